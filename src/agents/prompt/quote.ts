/**
 * Text that did not come from the daemon, marked as data. Its own closing marks are defused, so that it can't end the
 * quotation and go on as if it were the prompt.
 */
export function quoteUntrusted(source: string, text: string): string {
  const body = text.replace(/<(\/?)untrusted/gi, '<$1_untrusted').trim();
  return `<untrusted source="${source.replace(/["<>\n]/g, ' ')}">\n${body}\n</untrusted>`;
}

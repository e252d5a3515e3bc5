/** What the policy verbs need of the world outside. */
export interface PolicyIo {
  stdout(text: string): void;
  stderr(text: string): void;
  stdin(): AsyncIterable<Buffer> | string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

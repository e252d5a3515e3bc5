/** Runs what it is given one after the other, in order; a failure concerns its own caller only. */
type Serial = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
}

/** To the process that started this one. */
export function tell(message: unknown): void {
  process.send?.(message);
}

/** Answers questions about this process's CPU time (all threads, microseconds); ends when the starter does. */
export function answerCpu(stop: () => unknown): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    tell(user + system);
  });
  process.once('disconnect', async () => {
    await stop();
    process.exit(0);
  });
}

/** The same clock in every process of a machine, in milliseconds. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

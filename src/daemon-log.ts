import { renameSync, statSync } from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import { redact } from './gateway/redact.ts';
import type { Log } from './scheduler/engine.ts';

const ROTATE_BYTES = 10 * 1024 * 1024;
const KEPT = 5;

export interface DaemonLogFile extends Log {
  readonly file: string;
  flush(): void;
}

/** Opens `logs/daemon.log`, rotating what an earlier daemon left; every line passes the redactor before it is written. */
export function openLog(options: {
  directory: string;
  secrets: () => readonly string[];
  echo: boolean;
}): DaemonLogFile {
  const file = path.join(options.directory, 'daemon.log');
  rotate(file);
  const destination = pino.destination({ dest: file, append: true, mkdir: true, sync: true, mode: 0o600 });
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    {
      write(line: string) {
        const clean = redact(line, options.secrets());
        destination.write(clean);
        if (options.echo) process.stderr.write(clean);
      },
    },
  );
  return {
    file,
    flush: () => destination.flushSync(),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

function rotate(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size < ROTATE_BYTES) return;
  for (let n = KEPT - 1; n >= 1; n--) {
    if (statSync(`${file}.${n}`, { throwIfNoEntry: false })) renameSync(`${file}.${n}`, `${file}.${n + 1}`);
  }
  renameSync(file, `${file}.1`);
}

import { open, rename, unlink } from 'node:fs/promises';

/**
 * Puts new bytes in the place of a file at once: readers see the old or the new content, never a part. The mode is
 * set exactly, whatever the umask; without one the file is new and gets the usual mode.
 */
export async function replaceFile(file: Buffer, bytes: Buffer, mode: number | undefined): Promise<void> {
  const temporary = Buffer.concat([
    file.subarray(0, file.lastIndexOf('/') + 1),
    Buffer.from(`.orchestrator-${process.pid}-${process.hrtime.bigint()}.tmp`),
  ]);
  const handle = await open(temporary, 'wx', 0o666);
  try {
    await handle.writeFile(bytes);
    if (mode !== undefined) await handle.chmod(mode & 0o7777);
    await handle.close();
    await rename(temporary, file);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

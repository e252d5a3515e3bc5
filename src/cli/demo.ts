import type { Io } from './io.ts';
import { type Given, isGiven } from './program/verb.ts';

export async function demo(io: Io, given: Given): Promise<number> {
  const { runDemo } = await import('./demo/run-demo.ts');
  return runDemo(io, { yes: isGiven(given, 'yes') });
}

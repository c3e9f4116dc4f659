/** What a program of ours that runs tests prints of them, and how it ends. */
import { constants } from 'node:os';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import endReport from './end-reporter.ts';

/** Runs them, prints them, and sets the exit code; a signal stops them, and the process ends when they have ended. */
export function runAndReport(options: NonNullable<Parameters<typeof run>[0]>): void {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      process.exitCode = 128 + constants.signals[signal];
      stopping.abort();
    });
  }
  const events = run({ ...options, signal: stopping.signal });
  events.on('test:fail', () => {
    process.exitCode ??= 1;
  });
  events.compose(spec).pipe(process.stdout);
  events.compose(endReport).pipe(process.stderr);
}

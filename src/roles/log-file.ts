/** The destination of a role's log: the file of --log-file, or standard error. */
import { systemClock } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';
import { RotatingFile } from '../os/rotating-file.ts';
import { jsonLine, textLine } from '../terminal/log-line.ts';
import { type LogPlace, standardErrorPlace } from './running/run-record.ts';
import type { Settings } from './settings/setting-table.ts';

export type LogFileSettings = Settings<
  'log-format' | 'log-file' | 'log-file-max-size' | 'log-file-max-age' | 'log-file-max-backups'
>;

/** Returns the place of this process's log. */
export const logPlaceOf = (settings: Pick<LogFileSettings, 'log-file'>): LogPlace =>
  settings['log-file'] === undefined
    ? standardErrorPlace(process.env)
    : { kind: 'rotated', path: settings['log-file'] };

/**
 * Returns a function that writes lines to the log file, or undefined without --log-file. An error that ends
 * the process is written to the file too. Throws an Error of one line if the file cannot be written.
 */
export function openLogFile(settings: LogFileSettings): ((line: string) => void) | undefined {
  const path = settings['log-file'];
  if (path === undefined) return undefined;
  const format = settings['log-format'] === 'json' ? jsonLine : textLine;
  const event = (message: string, fields: Readonly<Record<string, unknown>>) =>
    `${format({ at: new Date(systemClock.now()), level: 'error', component: '', message, fields })}\n`;
  try {
    const file = new RotatingFile({
      path,
      clock: systemClock,
      maxBytes: settings['log-file-max-size'],
      maxAgeMs: settings['log-file-max-age'],
      maxBackups: settings['log-file-max-backups'],
      lostLine: (lines, reason) => event('lines of the log could not be written', { lines, reason }),
    });
    process.on('uncaughtExceptionMonitor', (error) =>
      file.write(event('the process ends by an uncaught error', { error, stack: error.stack })),
    );
    return (line) => file.write(line);
  } catch (error) {
    throw new Error(`--log-file ${path} cannot be written: ${errorMessage(error)}`);
  }
}

/** Places from which the bytes of one backup are read. */
import { createReadStream } from 'node:fs';

export interface BackupSource {
  /** Path or location, for messages. */
  readonly path: string;
  /** Reads the bytes from the beginning. */
  readonly read: () => AsyncIterable<Uint8Array>;
}

export const fileSource = (path: string): BackupSource => ({ path, read: () => createReadStream(path) });

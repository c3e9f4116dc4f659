/**
 * A support bundle: all available parts in one archive, without secrets, and a list of the parts that failed
 * with the reasons.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Clock, sleep } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { archiveEnd, memberHeader, padding } from '../../formats/tar-archive.ts';
import type { SecretFilter } from './without-secrets.ts';

export interface BundlePart {
  /** File name, with folders. */
  readonly name: string;
  /** The part is made of objects that are already free of secrets. */
  readonly isClean?: true;
  /** Rejects if the part cannot be read. */
  read(signal: AbortSignal): Promise<string>;
}

export interface Bundle {
  /** Gzipped tar. */
  readonly archive: Uint8Array;
  /** `NAME: REASON` of each part that is incomplete. */
  readonly missing: readonly string[];
}

/** Timeout of one part, in milliseconds. */
const patienceMs = 30_000;
/**
 * Maximum length of a part in characters. Only the end of a longer part is kept: the latest lines of a log.
 */
export const maxOfPart = 8 * 2 ** 20;

/**
 * Reads one part after the other, to keep the load low on a machine that is in trouble. Never rejects because
 * of a part.
 */
export async function makeBundle(
  parts: readonly BundlePart[],
  {
    clock,
    filter,
    folder,
  }: { readonly clock: Clock; readonly filter: SecretFilter; readonly folder: string },
): Promise<Bundle> {
  const missing: string[] = [];
  const pieces: Uint8Array[] = [];
  const add = (name: string, text: string) => {
    const content = Buffer.from(text);
    const member = { name: `${folder}/${name}`, type: 'file', mode: 0o600, uid: 0, gid: 0 } as const;
    const modified = clock.now() / 1000;
    pieces.push(
      memberHeader({ ...member, modified, size: content.length }),
      content,
      padding(content.length),
    );
  };
  for (const { name, isClean, read } of parts) {
    try {
      const text = await withinPatience(clock, read);
      if (text.length > maxOfPart) missing.push(`${name}: only its last ${maxOfPart} characters are here`);
      // The text is cleaned before it is cut: half a secret would not be recognized.
      add(name, (isClean ? filter.withoutKnown(text) : filter.text(text)).slice(-maxOfPart));
    } catch (error) {
      missing.push(`${name}: ${filter.text(errorMessage(error))}`);
    }
  }
  add('missing.txt', missing.length === 0 ? 'nothing\n' : `${missing.join('\n')}\n`);
  return { archive: await promisify(gzip)(Buffer.concat([...pieces, archiveEnd])), missing };
}

async function withinPatience(clock: Clock, read: BundlePart['read']): Promise<string> {
  const [late, over] = [new AbortController(), new AbortController()];
  const timeout = sleep(clock, patienceMs, over.signal).then(() => {
    const error = new Error(`not read within ${patienceMs / 1000} s`);
    late.abort(error);
    throw error;
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([read(late.signal), timeout]);
  } finally {
    over.abort(new Error('the part is read'));
  }
}

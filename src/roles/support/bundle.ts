/** A support bundle: what is there, in one archive, without secrets; and which parts could not be had, with the reason. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Clock, sleep } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { archiveEnd, memberHeader, padding } from '../../base/tar-archive.ts';
import type { SecretFilter } from './without-secrets.ts';

export interface BundlePart {
  /** Of its file, with folders. */
  readonly name: string;
  /** What it gives was made of cleaned objects. */
  readonly isClean?: true;
  /** Rejects where it cannot be had. */
  read(signal: AbortSignal): Promise<string>;
}

export interface Bundle {
  /** gzipped tar. */
  readonly archive: Uint8Array;
  /** `NAME: REASON` of each part that is not whole. */
  readonly missing: readonly string[];
}

/** For one part. */
const patienceMs = 30_000;
/** Characters of a part: of a longer one the end is kept, which is the latest of a log. */
export const mostOfPart = 8 * 2 ** 20;

/** One part after the other, so that it weighs little on a machine that is in trouble. Never rejects for a part. */
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
      if (text.length > mostOfPart) missing.push(`${name}: only its last ${mostOfPart} characters are here`);
      // Cleaned before it is cut: of half a secret nobody could say that it is one.
      add(name, (isClean ? filter.withoutKnown(text) : filter.text(text)).slice(-mostOfPart));
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
    const error = new Error(`not there within ${patienceMs / 1000} s`);
    late.abort(error);
    throw error;
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([read(late.signal), timeout]);
  } finally {
    over.abort(new Error('it is there'));
  }
}

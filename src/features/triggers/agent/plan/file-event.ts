/** The event of a file that has changed. Pure. */

import type { Draft } from '../../../../apimachinery/meta.ts';
import { rfc3339, rfc3339Micro } from '../../../../base/time.ts';
import type { FolderWatch } from '../../api/folder-watch.ts';
import type { TriggerEvent } from '../../api/trigger-event.ts';
import { type Digest, eventDraft } from '../../api/trigger-event-draft.ts';
import type { FolderChange } from './folder-changes.ts';

/** Maximum bytes of a file's content in an event. */
export const maxContent = 64 * 1024;

/** Content of a file, or `truncated` for a file that is too large. */
export type FileContent =
  | { readonly content: string; readonly isBase64?: true }
  | { readonly truncated: true };

/**
 * End of the year 9999, in milliseconds since the epoch. Files may have later times, but RFC 3339 cannot
 * express them.
 */
const latestTime = 253_402_300_799_999;

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function fileContent(bytes: Buffer): FileContent {
  if (bytes.length > maxContent) return { truncated: true };
  try {
    return { content: utf8.decode(bytes) };
  } catch {
    return { content: bytes.toString('base64'), isBase64: true };
  }
}

/** Returns the event. The same change gives an event of the same name. `now` is in milliseconds. */
export function fileEvent(
  { metadata, spec }: FolderWatch,
  { type, path, mark }: FolderChange,
  content: FileContent | undefined,
  now: number,
  digest: Digest,
): Draft<TriggerEvent> {
  const uid = metadata.ownerReferences?.find(({ kind }) => kind === 'Trigger')?.uid ?? '';
  const { size, written } = mark;
  const modified = Number(BigInt(written) / 1_000_000n);
  const isTime = modified >= 0 && modified <= latestTime;
  const data = { path, size, ...(isTime && { modified: rfc3339Micro(modified) }), node: spec.nodeName };
  return eventDraft(
    { metadata: { name: spec.trigger, namespace: metadata.namespace, uid } },
    {
      key: ['file', spec.nodeName, path, written, String(size), type],
      type: `minik8s.io/file.${type.toLowerCase()}`,
      source: spec.source,
      subject: path,
      time: rfc3339(now),
      data: { ...data, ...content },
      lessData: { ...data, truncated: true },
    },
    digest,
  );
}

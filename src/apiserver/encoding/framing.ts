/** How the events of a watch are encoded. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { Status } from '../../apimachinery/status-error.ts';
import type { CachedObject, CacheEvent } from '../../storage/cache.ts';
import type { Selection } from '../selection.ts';
import type { Crossings, Frames } from './encoder.ts';

type EventType = CacheEvent['type'];

export interface Framing {
  readonly contentType: string;
  /** `revision` is the event's; the object is shown with it as its resourceVersion. */
  frame(type: EventType, shown: CachedObject, revision: number): Buffer;
  /** An event as it happened, for a client that sees the object before and after. */
  unchanged(event: CacheEvent): Buffer;
  /** An object that the event brings into the selection: ADDED. */
  entered(event: CacheEvent): Buffer;
  /** An object that the event takes out of the selection, as it was before: DELETED. */
  left(event: CacheEvent, previous: CachedObject): Buffer;
  bookmark(revision: number, annotations?: Readonly<Record<string, string>>): Buffer;
  error(status: Status): Buffer;
}

/** What a client with this selection sees of an event; undefined when nothing. */
export function frameOf(event: CacheEvent, selection: Selection, framing: Framing): Buffer | undefined {
  const { current, previous } = event;
  if (event.type === 'DELETED') {
    return selection.matches(previous ?? current) ? framing.unchanged(event) : undefined;
  }
  const before = previous !== undefined && selection.matches(previous);
  if (selection.matches(current)) {
    return before || event.type === 'ADDED' ? framing.unchanged(event) : framing.entered(event);
  }
  return before ? framing.left(event, previous) : undefined;
}

/** What all watches of one encoding make of an event, each once; without `made` every watch makes its own. */
export function crossings(frame: Framing['frame'], made?: Crossings): Pick<Framing, 'entered' | 'left'> {
  const once = (frames: Frames | undefined, event: CacheEvent, make: () => Buffer) =>
    frames ? (frames.get(event) ?? frames.keep(event, make())) : make();
  return {
    entered: (event) => once(made?.entered, event, () => frame('ADDED', event.current, event.revision)),
    left: (event, previous) => once(made?.left, event, () => frame('DELETED', previous, event.revision)),
  };
}

export const bookmarkMeta = (
  revision: number,
  annotations: Readonly<Record<string, string>> | undefined,
) => ({
  resourceVersion: String(revision),
  creationTimestamp: null,
  ...(annotations && { annotations }),
});

export function atRevision(object: KubeObject, revision: number): KubeObject {
  const resourceVersion = String(revision);
  if (object.metadata.resourceVersion === resourceVersion) return object;
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

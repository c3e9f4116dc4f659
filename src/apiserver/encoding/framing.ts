/** Encodes the events of a watch. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { Status } from '../../apimachinery/status-error.ts';
import type { CachedObject, CacheEvent } from '../../storage/cache.ts';
import type { Selection } from '../reads/selection.ts';
import type { MadeOnce } from './made.ts';

type EventType = CacheEvent['type'];

export interface Framing {
  readonly contentType: string;
  /**
   * Encodes an event. `revision` is the event's revision, and becomes the resourceVersion of the encoded
   * object.
   */
  frame(type: EventType, shown: CachedObject, revision: number): Buffer;
  /** Encodes an event unchanged, for a client whose selection matches the object before and after. */
  unchanged(event: CacheEvent): Buffer;
  /** Encodes an event that brings the object into the selection: ADDED. */
  entered(event: CacheEvent): Buffer;
  /**
   * Encodes an event that takes the object out of the selection, with the object's previous state: DELETED.
   */
  left(event: CacheEvent, previous: CachedObject): Buffer;
  bookmark(revision: number, annotations?: Readonly<Record<string, string>>): Buffer;
  error(status: Status): Buffer;
}

/** Frames of events in one encoding, each encoded once for all watches. */
export type Frames = MadeOnce<CacheEvent>;

/** Frames of events with which an object enters or leaves a selection. */
export interface Crossings {
  readonly entered: Frames;
  readonly left: Frames;
}

/** Returns the frame that a client with this selection receives for an event; undefined if none. */
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

/**
 * Encodes each event once for all watches of an encoding; without `made`, every watch encodes its own frames.
 */
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

/**
 * Answers in JSON. Stored objects are JSON already, and are sent unchanged if the form and the version allow
 * it.
 */
import type { Status } from '../../apimachinery/status-error.ts';
import type { CacheEvent } from '../../storage/cache.ts';
import { join, metadataBytes, unownedBytes, withRevision } from '../../storage/codec.ts';
import { jsonType } from '../respond.ts';
import { respondCollection } from './collection-body.ts';
import type { Encoder, Kept } from './encoder.ts';
import { atRevision, bookmarkMeta, type Crossings, crossings, type Frames, type Framing } from './framing.ts';
import { listHead, type Shape } from './shape.ts';

const contentType = jsonType['content-type'];

export const line = (type: string, object: unknown) => Buffer.from(`${JSON.stringify({ type, object })}\n`);

/** The parts of framing that all watches in JSON share. */
export const jsonFraming = {
  contentType,
  error: (status: Status) => line('ERROR', status),
};

const bookmarksOf = ({ head }: Shape): Pick<Framing, 'bookmark'> => ({
  bookmark: (revision, annotations) =>
    line('BOOKMARK', { ...head, metadata: bookmarkMeta(revision, annotations) }),
});

/** Derives the bytes of an answer from the bytes of a stored object, and the frame from an event. */
export interface Cut {
  readonly object: (bytes: Buffer) => Buffer;
  /** True if encoding reads more than it writes. */
  readonly readsMore: boolean;
  readonly unchanged: (event: CacheEvent, frame: Framing['frame']) => Buffer;
}

/** The whole object in its stored version: nothing is encoded. */
export const storedObjects: Cut = {
  object: (bytes) => bytes,
  readsMore: false,
  unchanged: (event) => event.frame,
};

/** The whole object without its managedFields. */
export const unownedObjects = (frames: Frames): Cut => ({
  object: unownedBytes,
  readsMore: false,
  unchanged: (event, frame) => frameOnce(event, frames, frame),
});

/** The metadata of an object, found without decoding the object. */
export function storedMetadata({ head }: Shape, frames: Frames, unowned: boolean): Cut {
  const opening = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"metadata":`);
  const closing = Buffer.from('}');
  return {
    object: (bytes) =>
      Buffer.concat([opening, metadataBytes(unowned ? unownedBytes(bytes) : bytes), closing]),
    readsMore: true,
    unchanged: (event, frame) => frameOnce(event, frames, frame),
  };
}

const frameOnce = (event: CacheEvent, frames: Frames, frame: Framing['frame']): Buffer =>
  frames.get(event) ?? frames.keep(event, frame(event.type, event.current, event.revision));

const frameEnd = Buffer.from('}\n');

/**
 * Encodes objects in their stored version. An event that changed nothing of the shown fields but the
 * resourceVersion is sent like any other, as upstream does, so that the client receives the change.
 */
export function storedJson(shape: Shape, cut: Cut, made: Crossings): Encoder {
  // `object` is not accessed if `bytes` suffice, because access decodes the object.
  const render = (found: Kept) => {
    const { bytes } = found;
    return bytes ? cut.object(bytes) : JSON.stringify(shape.show(found.object));
  };
  const frame: Framing['frame'] = (type, { bytes, revision: own }, revision) =>
    join([
      Buffer.from(`{"type":"${type}","object":`),
      cut.object(own === revision ? bytes : withRevision(bytes, revision)),
      frameEnd,
    ]);
  const framing: Framing = {
    ...jsonFraming,
    ...bookmarksOf(shape),
    frame,
    ...crossings(frame, made),
    unchanged: (event) => cut.unchanged(event, frame),
  };
  return jsonEncoder(shape, render, cut.readsMore, framing);
}

/** Encodes objects in a version that is not stored: every object is decoded and converted. */
export function convertedJson(shape: Shape, frames: Frames, made: Crossings): Encoder {
  const frame: Framing['frame'] = (type, { object }, revision) =>
    line(type, shape.show(atRevision(object, revision)));
  const framing: Framing = {
    ...jsonFraming,
    ...bookmarksOf(shape),
    frame,
    ...crossings(frame, made),
    unchanged: (event) => frameOnce(event, frames, frame),
  };
  return jsonEncoder(shape, ({ object }) => JSON.stringify(shape.show(object)), true, framing);
}

function jsonEncoder(
  shape: Shape,
  render: (found: Kept) => Uint8Array | string,
  readsMore: boolean,
  framing: Framing,
): Encoder {
  const weigh = readsMore ? weightOf : () => 0;
  return {
    contentType,
    object: render,
    otherKind: (value) => JSON.stringify(value),
    list: (listing, metadata, items) =>
      respondCollection(listing, {
        head: { ...listHead(shape), metadata },
        field: 'items',
        items,
        render,
        weigh,
      }),
    framing: () => framing,
  };
}

/**
 * Returns the number of stored bytes that are read; an object that was just written counts as 0, which is
 * small in comparison.
 */
export const weightOf = ({ bytes }: Kept) => bytes?.length ?? 0;

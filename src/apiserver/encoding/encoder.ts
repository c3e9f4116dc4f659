/**
 * Encodes stored objects into answers: one encoder for each form (the object, a row of a Table, metadata
 * alone), media type and served version. encoders.ts selects the encoder.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject, ListMeta } from '../../apimachinery/meta.ts';
import type { CacheEvent } from '../../storage/cache.ts';
import type { RequestScope } from '../request/request-scope.ts';
import type { Framing } from './framing.ts';
import type { MadeOnce } from './made.ts';

/** An object to be encoded, in its stored version. */
export interface Kept {
  readonly object: KubeObject;
  /** JSON of the object, with its resourceVersion; only read if the encoder needs it. */
  readonly bytes?: Buffer;
  /** Revision of an object in the watch cache: encodings of such an object are cached. */
  readonly revision?: number;
}

/** The request that receives a list, and the scheduler of the encoding work. */
export type Listing = Pick<RequestScope, 'headers' | 'signal' | 'server'>;

export interface Encoder {
  /** Content type of answers other than watches. */
  readonly contentType: string;
  /** True if the encoder's JSON is still to be converted to YAML. */
  readonly inYaml?: true;
  object(found: Kept): Uint8Array | string;
  /** Encodes an answer of another kind than the addressed one: a Status, a Scale. */
  otherKind(value: JsonObject): Uint8Array | string;
  list(listing: Listing, metadata: ListMeta, items: readonly Kept[]): Promise<Response>;
  /** Returns the encoding of a watch's events. */
  framing(): Framing;
}

/** Frames of events in one encoding, each encoded once for all watches. */
export type Frames = MadeOnce<CacheEvent>;

/** Frames of events with which an object enters or leaves a selection. */
export interface Crossings {
  readonly entered: Frames;
  readonly left: Frames;
}

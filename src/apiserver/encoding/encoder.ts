/**
 * How what is stored becomes an answer: one encoder for each form (the object, a row of a Table, metadata alone), media type and
 * served version. encoders.ts says which is whose.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject, ListMeta } from '../../apimachinery/meta.ts';
import type { CacheEvent } from '../../storage/cache.ts';
import type { RequestScope } from '../request-scope.ts';
import type { Framing } from './framing.ts';
import type { MadeOnce } from './made.ts';

/** An object on its way out, in the version in which it is stored. */
export interface Kept {
  readonly object: KubeObject;
  /** Its JSON, resourceVersion included; read only where it is of use. */
  readonly bytes?: Buffer;
  /** Of an object in the watch cache: what is made of that is kept for whoever asks next. */
  readonly revision?: number;
}

/** Who gets a list, and when there is time to make more of it. */
export type Listing = Pick<RequestScope, 'headers' | 'signal' | 'server'>;

export interface Encoder {
  /** Of an answer that is no watch. */
  readonly contentType: string;
  /** What it makes is JSON that is still to become YAML. */
  readonly inYaml?: true;
  object(found: Kept): Uint8Array | string;
  /** An answer of another kind than the one addressed: a Status, a Scale. */
  otherKind(value: JsonObject): Uint8Array | string;
  list(listing: Listing, metadata: ListMeta, items: readonly Kept[]): Promise<Response>;
  /** The events of one watch. */
  framing(): Framing;
}

/** What events are to those who watch in one way, made once for all of them. */
export type Frames = MadeOnce<CacheEvent>;

/** Events to those whose selection an object enters or leaves with them. */
export interface Crossings {
  readonly entered: Frames;
  readonly left: Frames;
}

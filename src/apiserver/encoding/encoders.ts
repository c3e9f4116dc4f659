/** Selects the encoder of a form, media type and served version. */
import type { MessageTable } from '../../apimachinery/protobuf/message-types.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { CacheEvent } from '../../storage/cache.ts';
import type { ObjectPart } from '../kind-behavior.ts';
import type { ResponseForm } from '../negotiation/accept.ts';
import type { Encoder, Kept } from './encoder.ts';
import type { Frames } from './framing.ts';
import {
  type Cut,
  convertedJson,
  storedJson,
  storedMetadata,
  storedObjects,
  unownedObjects,
} from './json.ts';
import { Budget, MadeOnce } from './made.ts';
import { protobufEncoder, typeInForm } from './protobuf.ts';
import { metadataShape, type Shape, wholeShape } from './shape.ts';
import { type IncludeObject, tableEncoder } from './table.ts';

export interface Encoders {
  /** Returns the encoder. `include` is only called for a Table. */
  of(served: ResourceDefinition, form: ResponseForm, include: () => IncludeObject): Encoder;
  /** Returns the encoder in JSON for a user who may read a part of each object. */
  ofPart(served: ResourceDefinition, part: ObjectPart): Encoder;
}

/** Budget of cached protobuf messages in bytes; those of 5,000 pods take 10 MiB. */
const messageBytes = 32 << 20;
/** Budget of cached frames in bytes. It may be small, because all watches send a frame within seconds. */
const frameBytes = 8 << 20;

interface Parts {
  readonly table: MessageTable;
  readonly frames: Budget;
  readonly messages: Budget;
}

/**
 * Creates the encoders of a server, once: encodings of an object are cached for later requests. `now` in
 * milliseconds.
 */
export function createEncoders(table: MessageTable, now: () => number): Encoders {
  const parts: Parts = { table, frames: new Budget(frameBytes), messages: new Budget(messageBytes) };
  const known = new WeakMap<ResourceDefinition, Map<string, Encoder>>();
  const once = (served: ResourceDefinition, name: string, make: () => Encoder) => {
    const own = known.get(served) ?? new Map<string, Encoder>();
    known.set(served, own);
    const made = own.get(name) ?? make();
    own.set(name, made);
    return made;
  };
  return {
    ofPart: (served, part) => once(served, `part ${part.name}`, () => createPart(served, part, parts)),
    of(served, { encoding, ...plain }, include) {
      if (encoding === 'yaml') return { ...this.of(served, plain, include), inYaml: true };
      const form: ResponseForm = encoding ? { ...plain, encoding } : plain;
      if (form.type === 'table')
        return tableEncoder({
          definition: served,
          version: form.version,
          include: include(),
          isUnowned: form.unowned ?? false,
          now,
        });
      return once(served, nameOf(form), () => create(served, form, parts));
    },
  };
}

type Objects = Exclude<ResponseForm, { type: 'table' }>;

/** Returns the key under which the encoder of a form is cached. */
function nameOf(form: Objects): string {
  const version = form.type === 'metadata' ? form.version : '';
  return `${form.encoding ?? 'json'} ${form.type} ${version} ${form.unowned ? 'unowned' : ''}`;
}

function create(served: ResourceDefinition, form: Objects, { table, ...budgets }: Parts): Encoder {
  const frames = new MadeOnce<CacheEvent>(budgets.frames);
  const made = {
    entered: new MadeOnce<CacheEvent>(budgets.frames),
    left: new MadeOnce<CacheEvent>(budgets.frames),
  };
  const shape = form.type === 'metadata' ? metadataShape(served, form.version) : wholeShape(served);
  if (form.encoding === 'protobuf') {
    const messages = new MadeOnce<Kept>(budgets.messages);
    return protobufEncoder({ shape, type: typeInForm(served, form, table), table, messages, frames, made });
  }
  if (served.conversion || served.fromStorage) return convertedJson(shape, frames, made);
  return storedJson(shape, cutOf(form, shape, frames), made);
}

function createPart(served: ResourceDefinition, part: ObjectPart, { frames }: Parts): Encoder {
  const whole = wholeShape(served);
  const shape: Shape = { ...whole, show: (object) => part.show(whole.show(object)) };
  const crossings = { entered: new MadeOnce<CacheEvent>(frames), left: new MadeOnce<CacheEvent>(frames) };
  return convertedJson(shape, new MadeOnce<CacheEvent>(frames), crossings);
}

function cutOf({ type, unowned }: Objects, shape: Shape, frames: Frames): Cut {
  if (type === 'metadata') return storedMetadata(shape, frames, unowned ?? false);
  return unowned ? unownedObjects(frames) : storedObjects;
}

/** The lines of a watch: `{"type":…,"object":…}\n` with the object in the form the client asked for. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { MessageTable } from '../../apimachinery/protobuf/message-types.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import type { Status } from '../../apimachinery/status-error.ts';
import type { CacheEvent } from '../../storage/cache.ts';
import { frameObject, join, withRevision } from '../../storage/codec.ts';
import type { MetaVersion, ResponseForm } from '../negotiation/accept.ts';
import type { Selection } from '../selection.ts';
import { type IncludeObject, metadataOf, partialHead, partialObject, table } from '../table.ts';
import { atRevision, bookmarkMeta, type Framing } from './framing.ts';
import { protobufFraming } from './watch-frames-protobuf.ts';

const line = (type: string, object: unknown) => Buffer.from(`${JSON.stringify({ type, object })}\n`);

/** What the framings in JSON have in common. */
const inJson = {
  contentType: 'application/json',
  error: (status: Status) => line('ERROR', status),
};

/** What a client with this selection sees of an event; undefined when nothing. */
export function frameOf(event: CacheEvent, selection: Selection, framing: Framing): Buffer | undefined {
  const { current, previous, revision } = event;
  if (event.type === 'DELETED') {
    return selection.matches(previous ?? current) ? framing.unchanged(event) : undefined;
  }
  const before = previous !== undefined && selection.matches(previous);
  if (selection.matches(current)) {
    return before || event.type === 'ADDED'
      ? framing.unchanged(event)
      : framing.frame('ADDED', current, revision);
  }
  return before ? framing.frame('DELETED', previous, revision) : undefined;
}

export function createFraming(
  definition: ResourceDefinition,
  form: ResponseForm,
  include: IncludeObject,
  now: () => number,
  messages: MessageTable,
): Framing {
  if (form.encoding === 'protobuf') return protobufFraming(definition, form, messages);
  switch (form.type) {
    case 'object':
      return definition.conversion ? convertedFraming(definition) : objectFraming(definition);
    case 'metadata':
      return definition.conversion
        ? convertedMetadataFraming(definition, form.version)
        : metadataFraming(form.version);
    case 'table':
      return tableFraming({ definition, version: form.version, include }, now);
  }
}

/** Passes on the bytes the cache made once for all watchers. */
function objectFraming(definition: ResourceDefinition): Framing {
  const { kind } = definition;
  const apiVersion = apiVersionOf(definition);
  return {
    ...inJson,
    frame: (type, shown, revision) => frameObject(type, shown.bytes, revision).frame,
    unchanged: (event) => event.frame,
    bookmark: (revision, annotations) =>
      line('BOOKMARK', { kind, apiVersion, metadata: bookmarkMeta(revision, annotations) }),
  };
}

/** What every watch in a version that is not stored is sent of an event, made once. */
const convertedFrames = new WeakMap<ResourceDefinition, WeakMap<CacheEvent, Buffer>>();

function convertedFraming(served: ResourceDefinition): Framing {
  const frames = convertedFrames.get(served) ?? new WeakMap<CacheEvent, Buffer>();
  convertedFrames.set(served, frames);
  const frame: Framing['frame'] = (type, shown, revision) =>
    line(type, asServed(served, atRevision(shown.object, revision)));
  return {
    ...objectFraming(served),
    frame,
    unchanged(event) {
      const made = frames.get(event) ?? frame(event.type, event.current, event.revision);
      frames.set(event, made);
      return made;
    },
  };
}

/** What every watch of metadata is sent of an event, made once. */
const metadataFrames = {
  v1: new WeakMap<CacheEvent, Buffer>(),
  v1beta1: new WeakMap<CacheEvent, Buffer>(),
};

/**
 * An event that changed no metadata but the resourceVersion is sent like any other, as upstream does: it is how a client
 * learns that the object changed at all.
 */
function metadataFraming(version: MetaVersion): Framing {
  const frames = metadataFrames[version];
  const frame: Framing['frame'] = (type, { bytes, revision: own }, revision) => {
    const object = partialObject(own === revision ? bytes : withRevision(bytes, revision), version);
    return join([Buffer.from(`{"type":"${type}","object":`), object, Buffer.from('}\n')]);
  };
  return {
    ...inJson,
    frame,
    unchanged(event) {
      const { type, current, revision } = event;
      const made = frames.get(event) ?? frame(type, current, revision);
      frames.set(event, made);
      return made;
    },
    bookmark: (revision, annotations) =>
      line('BOOKMARK', { ...partialHead(version), metadata: bookmarkMeta(revision, annotations) }),
  };
}

/** A version that is not stored may have other annotations. Made for each watch: hardly anybody asks for it. */
function convertedMetadataFraming(served: ResourceDefinition, version: MetaVersion): Framing {
  const frame: Framing['frame'] = (type, shown, revision) =>
    line(type, metadataOf(asServed(served, atRevision(shown.object, revision)), version));
  return {
    ...metadataFraming(version),
    frame,
    unchanged: ({ type, current, revision }) => frame(type, current, revision),
  };
}

/** The first Table of a stream names the columns, the others repeat nothing. */
function tableFraming(form: Omit<Parameters<typeof table>[0], 'now'>, now: () => number): Framing {
  let first = true;
  const render = (type: string, metadata: object, objects: readonly KubeObject[]) => {
    const frame = line(type, table({ ...form, now: now() }, metadata, objects, first));
    first = false;
    return frame;
  };
  const frame: Framing['frame'] = (type, shown, revision) =>
    render(type, { resourceVersion: String(revision) }, [atRevision(shown.object, revision)]);
  return {
    ...inJson,
    frame,
    unchanged: ({ type, current, revision }) => frame(type, current, revision),
    bookmark: (revision, annotations) => render('BOOKMARK', bookmarkMeta(revision, annotations), []),
  };
}

/** Answers as meta.k8s.io Table, which `kubectl get` prints. Tables exist in JSON only, as upstream. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { newBadRequest } from '../../apimachinery/status-error.ts';
import type { MetaVersion } from '../negotiation/accept.ts';
import { respondCollection } from './collection-body.ts';
import type { Encoder } from './encoder.ts';
import { atRevision, bookmarkMeta, crossings, type Framing } from './framing.ts';
import { jsonFraming, line, weightOf } from './json.ts';
import { metadataShape, type Shape, wholeShape } from './shape.ts';

const includes = ['None', 'Metadata', 'Object'] as const;
export type IncludeObject = (typeof includes)[number];

/** Parses the parameter `includeObject`. Throws a 400 for an invalid value. */
export function parseIncludeObject(value: string | null): IncludeObject {
  const found = includes.find((known) => known === (value || 'Metadata'));
  if (found) return found;
  throw newBadRequest(`unrecognized includeObject value: ${JSON.stringify(value)}`);
}

export interface TableForm {
  readonly definition: ResourceDefinition;
  readonly version: MetaVersion;
  readonly include: IncludeObject;
  /** True to leave managedFields out of the objects in the rows. */
  readonly isUnowned: boolean;
  /** Current time in milliseconds, for ages. */
  readonly now: () => number;
}

type Rows = (objects: readonly KubeObject[]) => JsonObject[];

export function tableEncoder(form: TableForm): Encoder {
  const { definition } = form;
  const shown = shapeOf(form);
  /** Returns the rows for JSON, which omits undefined fields. */
  const rows: Rows = (objects) => {
    const now = form.now();
    return objects.map((object) => ({
      cells: definition.columns.map((column) => column.cell(object, now)),
      conditions: definition.rowConditions?.(object),
      object: shown?.show(object),
    }));
  };
  return {
    contentType: jsonFraming.contentType,
    object: ({ object }) => {
      const { resourceVersion } = object.metadata;
      return JSON.stringify({ ...head(form, { resourceVersion }), rows: rows([object]) });
    },
    otherKind: (value) => JSON.stringify(value),
    list: (listing, metadata, items) =>
      respondCollection(listing, {
        head: head(form, metadata),
        field: 'rows',
        items,
        render: ({ object }) => JSON.stringify(rows([object])[0]),
        weigh: weightOf,
      }),
    framing: () => tableFraming(form, rows),
  };
}

/** Returns the shape of the object in a row; undefined if rows contain only cells. */
function shapeOf(form: TableForm): Shape | undefined {
  const shape = ownedShapeOf(form);
  if (!shape || !form.isUnowned) return shape;
  return { ...shape, show: (object) => withoutManagedFields(shape.show(object)) };
}

function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function ownedShapeOf({ definition, version, include }: TableForm): Shape | undefined {
  switch (include) {
    case 'None':
      return undefined;
    case 'Metadata':
      return metadataShape(definition, version);
    case 'Object':
      return wholeShape(definition);
  }
}

/**
 * Returns a Table without its rows. `columns` are only included if the reader needs them: in a list, and in
 * the first event of a watch.
 */
const head = ({ definition, version }: TableForm, metadata: object, columns = true) => ({
  kind: 'Table',
  apiVersion: `meta.k8s.io/${version}`,
  metadata,
  columnDefinitions: columns ? columnDefinitions(definition) : null,
});

function columnDefinitions(definition: ResourceDefinition): JsonObject[] {
  return definition.columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format: format ?? '',
    description,
    priority: priority ?? 0,
  }));
}

/** The first Table of a stream contains the columns; later ones do not repeat them. */
function tableFraming(form: TableForm, rows: Rows): Framing {
  let first = true;
  const render = (type: string, metadata: object, objects: readonly KubeObject[]) => {
    const frame = line(type, { ...head(form, metadata, first), rows: rows(objects) });
    first = false;
    return frame;
  };
  const frame: Framing['frame'] = (type, shown, revision) =>
    render(type, { resourceVersion: String(revision) }, [atRevision(shown.object, revision)]);
  return {
    ...jsonFraming,
    frame,
    ...crossings(frame),
    unchanged: ({ type, current, revision }) => frame(type, current, revision),
    bookmark: (revision, annotations) => render('BOOKMARK', bookmarkMeta(revision, annotations), []),
  };
}

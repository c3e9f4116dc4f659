import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { fieldDocs } from '../../../config/build/field-docs.ts';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { headFields } from '../../../src/api/own-kind.ts';
import {
  jsonPieces,
  type OpenApiSource,
  type OpenApiV2Document,
  type OpenApiV3Document,
  openApiPath,
  openApiV2Document,
  openApiV3Document,
  openApiV3Index,
} from '../../../src/apimachinery/openapi.ts';
import { encodeOpenApiV2 } from '../../../src/apimachinery/openapi-proto.ts';
import type { SchemaObject } from '../../../src/apimachinery/openapi-schema.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { inOneGo } from '../../../src/apimachinery/steps.ts';
import { registry } from '../../../src/features/kinds.ts';

const pathsOf = (definitions: readonly ResourceDefinition[]) => [...new Set(definitions.map(openApiPath))];

const template = registry.find(({ kind }) => kind === 'Pod');
assert.ok(template);

const thing: ResourceDefinition = {
  ...template,
  group: 'minik8s.io',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  typeName: 'Thing',
  types: {
    Thing: { ...headFields('Thing'), 'spec!:ThingSpec': '' },
    ThingSpec: { 'mode!:string': '', 'steps:[]ThingSpecSteps': '' },
    ThingSpecSteps: { 'run!:string': '' },
  },
  rules: { ThingSpec: { choices: { mode: ['a', 'b'] } } },
  hasStatus: false,
};

const source: OpenApiSource = {
  definitions: [...registry, thing],
  fields: kubernetesFields,
  docs: fieldDocs(),
  version: 'v1.32.0',
};

/** Returns every `$ref` in a document. */
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : references(inner),
  );
}

describe('descriptions', () => {
  /** Fields for which Kubernetes has no description, as for the fields of JSON Schema. */
  const silent = new Set([
    'networking.v1.IngressRule.http',
    'certificates.v1.CertificateSigningRequest.metadata',
  ]);
  const isSilent = (field: string) =>
    silent.has(field) || /\.(JSONSchemaProps|ExternalDocumentation)\./.test(field);
  const schemasOf = (path: string) => inOneGo(openApiV3Document(source, path))?.components.schemas ?? {};
  const documents: readonly [string, Readonly<Record<string, SchemaObject>>][] = [
    ['version 2', inOneGo(openApiV2Document(source)).definitions],
    ...pathsOf(registry).map((path): [string, Record<string, SchemaObject>] => [path, schemasOf(path)]),
  ];
  for (const [name, schemas] of documents) {
    it(`are in ${name} for each field that Kubernetes describes`, () => {
      // The types are from a newer Kubernetes than the descriptions, which lack its newest fields.
      const fields = Object.entries(schemas).flatMap(([schema, { properties = {} }]) => {
        const type = schema.split('.').slice(-3).join('.');
        const known = Object.keys(source.docs[type] ?? {});
        return known.map((field) => [`${type}.${field}`, properties[field]] as const);
      });
      assert.deepEqual(
        fields.filter(([field, property]) => property && !property.description && !isSilent(field)),
        [],
      );
    });
  }

  it('have precedence over the description of a type if they are of a field', () => {
    const described = (type: string, field: string) =>
      inOneGo(openApiV2Document(source)).definitions[`io.k8s.api.${type}`]?.properties?.[field]
        ?.description ?? '';
    assert.match(described('core.v1.Container', 'resources'), /^Compute Resources required by/);
    assert.match(described('apps.v1.RollingUpdateDeployment', 'maxSurge'), /^The maximum number of pods/);
    assert.match(described('core.v1.Pod', 'spec'), /^Specification of the desired behavior/);
  });
});

test('the index names a document for each group-version', () => {
  const paths = pathsOf(source.definitions);
  assert.ok(
    paths.includes('api/v1') && paths.includes('apis/apps/v1') && paths.includes('apis/minik8s.io/v1'),
  );
  assert.deepEqual(openApiV3Index([{ path: 'api/v1', hash: 'A=' }]), {
    paths: { 'api/v1': { serverRelativeURL: '/openapi/v3/api/v1?hash=A%3D' } },
  });
  for (const path of paths) assert.ok(inOneGo(openApiV3Document(source, path)), path);
  assert.equal(inOneGo(openApiV3Document(source, 'apis/nothing/v1')), undefined);
});

test('a described number keeps its own numeric type', () => {
  const document = inOneGo(openApiV3Document(source, 'apis/minik8s.io/v1'));
  const [port] = Object.values(document?.components.schemas ?? {}).flatMap(
    ({ properties = {} }) => properties.servicePort ?? [],
  );
  assert.deepEqual([port?.type, port?.format], ['integer', 'int32']);
  const [generation] = Object.entries(document?.components.schemas ?? {}).flatMap(
    ([name, { properties = {} }]) =>
      name.endsWith('DnsStatus') ? (properties.observedGeneration ?? []) : [],
  );
  assert.deepEqual([generation?.type, generation?.format], ['integer', 'int64']);
});

test('every reference has a definition, in both versions', () => {
  const v2 = inOneGo(openApiV2Document(source));
  for (const ref of references(v2))
    assert.ok(Object.hasOwn(v2.definitions, ref.replace('#/definitions/', '')), ref);
  for (const path of pathsOf(source.definitions)) {
    const v3 = inOneGo(openApiV3Document(source, path));
    for (const ref of references(v3))
      assert.ok(Object.hasOwn(v3?.components.schemas ?? {}, ref.replace('#/components/schemas/', '')), ref);
  }
});

test('PATCH of a kind has the parameters that kubectl requires', () => {
  const document = inOneGo(openApiV3Document(source, 'apis/apps/v1'));
  const patch = document?.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.patch;
  assert.deepEqual(patch?.['x-kubernetes-group-version-kind'], {
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
  });
  const names = patch?.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  assert.deepEqual(names, ['dryRun', 'fieldManager', 'fieldValidation', 'force']);
  assert.ok(patch?.requestBody?.content['application/strategic-merge-patch+json']);
  const list = document?.paths['/apis/apps/v1/deployments']?.get;
  assert.equal(list?.['x-kubernetes-action'], 'list');
});

test('schemas contain kinds, merge keys and descriptions', () => {
  const schemas = inOneGo(openApiV3Document(source, 'api/v1'))?.components.schemas ?? {};
  assert.deepEqual(schemas['io.k8s.api.core.v1.Pod']?.['x-kubernetes-group-version-kind'], [
    { group: '', version: 'v1', kind: 'Pod' },
  ]);
  const containers = schemas['io.k8s.api.core.v1.PodSpec']?.properties?.containers;
  assert.equal(containers?.['x-kubernetes-patch-strategy'], 'merge');
  assert.equal(containers?.['x-kubernetes-patch-merge-key'], 'name');
  assert.deepEqual(containers?.['x-kubernetes-list-map-keys'], ['name']);
  const volumes = schemas['io.k8s.api.core.v1.PodSpec']?.properties?.volumes;
  assert.equal(volumes?.['x-kubernetes-patch-strategy'], 'merge,retainKeys');
  const tolerations = schemas['io.k8s.api.core.v1.PodSpec']?.properties?.tolerations;
  assert.equal(tolerations?.['x-kubernetes-patch-strategy'], undefined);
  assert.equal(tolerations?.['x-kubernetes-list-type'], 'atomic');
  const spec = schemas['io.k8s.api.core.v1.Pod']?.properties?.spec;
  assert.deepEqual(spec?.allOf, [{ $ref: '#/components/schemas/io.k8s.api.core.v1.PodSpec' }]);
  assert.match(containers?.description ?? '', /containers belonging to the pod/);
});

test('a kind of our own is described by its schema and supports no strategic merge patch', () => {
  const document = inOneGo(openApiV3Document(source, 'apis/minik8s.io/v1'));
  const spec = document?.components.schemas['io.minik8s.v1.ThingSpec'];
  assert.deepEqual(spec?.required, ['mode']);
  assert.deepEqual(spec?.properties?.mode, { type: 'string', enum: ['a', 'b'] });
  const item = document?.paths['/apis/minik8s.io/v1/namespaces/{namespace}/things/{name}'];
  assert.deepEqual(Object.keys(item?.patch?.requestBody?.content ?? {}), [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
  ]);
});

test('quantities and int-or-strings are definitions with Kubernetes’ names in both versions', () => {
  const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
  const intOrString = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';
  const v2 = inOneGo(openApiV2Document(source)).definitions;
  assert.equal(v2[quantity]?.type, 'string');
  assert.deepEqual([v2[intOrString]?.type, v2[intOrString]?.format], ['string', 'int-or-string']);
  const limits = v2['io.k8s.api.core.v1.ResourceRequirements']?.properties?.limits;
  assert.deepEqual(limits?.additionalProperties, { $ref: `#/definitions/${quantity}` });
  const v3 = inOneGo(openApiV3Document(source, 'apis/apps/v1'))?.components.schemas ?? {};
  assert.deepEqual(v3[quantity]?.oneOf, [{ type: 'string' }, { type: 'number' }]);
  assert.deepEqual(v3[intOrString]?.oneOf, [{ type: 'integer' }, { type: 'string' }]);
  assert.equal(v3[intOrString]?.format, 'int-or-string');
  const surge = v3['io.k8s.api.apps.v1.RollingUpdateDeployment']?.properties?.maxSurge;
  assert.deepEqual(surge?.allOf, [{ $ref: `#/components/schemas/${intOrString}` }]);
});

test('operation names are unique', () => {
  const operations = Object.values(inOneGo(openApiV2Document(source)).paths).flatMap((item) =>
    Object.values(item),
  );
  const names = operations.map((operation) => operation.operationId);
  assert.equal(new Set(names).size, names.length);
});

type Message = Map<number, (Message | string)[]>;

/** Decodes a protobuf message without its schema; `shape` decides which fields are decoded as messages. */
function decode(bytes: Buffer, shape: Shape): Message {
  const message: Message = new Map();
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = tag >>> 3;
    if ((tag & 7) === 0) {
      message.set(number, [...(message.get(number) ?? []), String(varint())]);
      continue;
    }
    assert.equal(tag & 7, 2, 'only varints and length-delimited fields');
    const length = varint();
    const content = bytes.subarray(at, at + length);
    assert.equal(content.length, length);
    at += length;
    const inner = shape[number];
    const value = inner ? decode(content, inner) : content.toString('utf8');
    message.set(number, [...(message.get(number) ?? []), value]);
  }
  return message;
}

type Shape = { readonly [field: number]: Shape };
const anyValue: Shape = { 2: {} };
const operationShape: Shape = {
  8: { 1: { 1: {}, 2: { 3: {}, 4: {} } } },
  9: { 1: { 2: { 1: {} } } },
  13: anyValue,
};
const pathItemShape: Shape = {
  2: operationShape,
  3: operationShape,
  4: operationShape,
  5: operationShape,
  8: operationShape,
};
const propertyShape: Shape = { 22: {}, 23: { 1: { 22: {} } }, 31: anyValue };
const documentShape: Shape = {
  2: {},
  8: { 2: { 2: pathItemShape } },
  9: { 1: { 2: { 22: {}, 25: { 1: { 2: propertyShape } }, 31: anyValue } } },
};

const field = (message: Message | string | undefined, number: number): (Message | string)[] =>
  message instanceof Map ? (message.get(number) ?? []) : [];
const entry = (messages: (Message | string)[], name: string) =>
  messages.find((message) => field(message, 1)[0] === name);

const encoded = (json: OpenApiV2Document): Uint8Array => inOneGo(encodeOpenApiV2(json));

for (const [name, document] of [
  ['version 2', () => openApiV2Document(source)],
  ['version 3 of the core group', () => openApiV3Document(source, 'api/v1')],
] as const)
  test(`the document of ${name} is described and written in short steps`, () => {
    const described = [...document()];
    const made = inOneGo<OpenApiV2Document | OpenApiV3Document | undefined>(document());
    assert.ok(made);
    const pieces = [...jsonPieces(made)];
    const whole = JSON.stringify(made);
    assert.equal(pieces.join(''), whole);
    const sum = described.reduce((all, size) => all + size, 0);
    assert.ok(sum > whole.length / 2 && sum < whole.length * 2, `${sum} of ${whole.length} bytes`);
    // Half of a turn of 64 KiB.
    const longest = [Math.max(...described), Math.max(...pieces.map(({ length }) => length))];
    assert.ok(Math.max(...longest) < 32 * 1024, `${longest} bytes`);
  });

test('the protobuf form is encoded in a step for each path and definition', () => {
  const json = inOneGo(openApiV2Document(source));
  const sizes = [...encodeOpenApiV2(json)];
  assert.equal(sizes.length, Object.keys(json.paths).length + Object.keys(json.definitions).length);
  const inSteps = sizes.reduce((sum, size) => sum + size, 0);
  const whole = encoded(json).length;
  assert.ok(inSteps <= whole && inSteps > 0.99 * whole, `${inSteps} of ${whole} bytes`);
});

test('the protobuf form has the content of the document', () => {
  const json = inOneGo(openApiV2Document(source));
  const document = decode(Buffer.from(encoded(json)), documentShape);
  assert.deepEqual(field(document, 1), ['2.0']);
  const paths = field(field(document, 8)[0], 2);
  assert.deepEqual(
    paths.map((path) => field(path, 1)[0]),
    Object.keys(json.paths),
  );
  const pod = field(entry(paths, '/api/v1/namespaces/{namespace}/pods/{name}'), 2)[0];
  const patch = field(pod, 8)[0];
  const names = field(patch, 8)
    .flatMap((parameter) => field(parameter, 1))
    .flatMap((parameter) => field(parameter, 2))
    .flatMap((nonBody) => [...field(nonBody, 3), ...field(nonBody, 4)])
    .map((parameter) => field(parameter, 4)[0]);
  assert.deepEqual(names, ['namespace', 'name', 'dryRun', 'fieldManager', 'fieldValidation', 'force']);
  const gvk = entry(field(patch, 13), 'x-kubernetes-group-version-kind');
  assert.deepEqual(field(field(gvk, 2)[0], 2), ['{"group":"","version":"v1","kind":"Pod"}']);
  const definitions = field(field(document, 9)[0], 1);
  assert.deepEqual(
    definitions.map((definition) => field(definition, 1)[0]),
    Object.keys(json.definitions),
  );
  const podSpec = field(entry(definitions, 'io.k8s.api.core.v1.PodSpec'), 2)[0];
  const containers = field(entry(field(field(podSpec, 25)[0], 1), 'containers'), 2)[0];
  assert.deepEqual(field(field(containers, 22)[0], 1), ['array']);
  assert.deepEqual(field(field(field(containers, 23)[0], 1)[0], 1), [
    '#/definitions/io.k8s.api.core.v1.Container',
  ]);
  const key = entry(field(containers, 31), 'x-kubernetes-patch-merge-key');
  assert.deepEqual(field(field(key, 2)[0], 2), ['"name"']);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CustomResourceDefinition } from '../../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { asServed } from '../../../../src/apimachinery/served-version.ts';
import {
  isServed,
  kindsOfDefinition,
} from '../../../../src/kube-apiserver/custom-resources/definition-kinds.ts';
import { printerColumns } from '../../../../src/kube-apiserver/custom-resources/printer-columns.ts';

type Version = CustomResourceDefinition['spec']['versions'][number];

const version = (name: string, more: Partial<Version> = {}): Version => ({
  ...{ name, served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
  ...more,
});

const definition = (versions: Version[], metadata: object, storedVersions: string[]) => {
  const names = { plural: 'as', singular: 'a', kind: 'A', listKind: 'AList' };
  return {
    metadata: { name: 'as.example.com', ...metadata },
    spec: { group: 'example.com', scope: 'Cluster', names, versions },
    status: { acceptedNames: names, storedVersions },
  } as unknown as CustomResourceDefinition;
};

const kindsOf = (...of: Parameters<typeof definition>) =>
  kindsOfDefinition(definition(...of), kubernetesFields);

const stored = { apiVersion: 'example.com/v1', kind: 'A', metadata: { name: 'x' } } as KubeObject;

describe('the kinds of a definition', () => {
  it('are its served versions, of which one is stored', () => {
    const kinds = kindsOf(
      [version('v1'), version('v2', { storage: true }), version('v3', { served: false })],
      {},
      ['v2'],
    );
    assert.deepEqual(
      kinds.map((kind) => [kind.version, kind.conversion?.stored.version]),
      [
        ['v1', 'v2'],
        ['v2', undefined],
      ],
    );
  });

  it('are stored in the first served version if the storage version is not served', () => {
    const [first] = kindsOf([version('v1', { served: false, storage: true }), version('v2')], {}, ['v1']);
    assert.ok(first);
    assert.equal(asServed(first, stored).apiVersion, 'example.com/v2');
  });

  it('read stored objects unchanged while the definition has its first version', () => {
    const versions = [version('v1', { storage: true })];
    const [created] = kindsOf(versions, { generation: 1 }, ['v1']);
    const [changed] = kindsOf(versions, { generation: 2 }, ['v1']);
    assert.deepEqual([created?.fromStorage, typeof changed?.fromStorage], [undefined, 'function']);
  });

  it('without a served version do not exist, until the definition is deleted', () => {
    const versions = [version('v1', { served: false, storage: true })];
    assert.deepEqual(kindsOf(versions, {}, ['v1']), []);
    const [kind] = kindsOf(versions, { deletionTimestamp: '2026-01-01T00:00:00Z' }, ['v1']);
    assert.equal(kind?.version, 'v1');
  });
});

describe('a definition', () => {
  it('is served only under its own plural, for any content of its status', () => {
    const own = definition([version('v1', { storage: true })], {}, ['v1']);
    const conditions = [{ type: 'NamesAccepted', status: 'True' as const }];
    const accepting = (plural: string) =>
      isServed({
        ...own,
        status: { ...own.status, conditions, acceptedNames: { ...own.spec.names, plural } },
      });
    assert.deepEqual(['as', 'leases', ''].map(accepting), [true, false, false]);
    const unnamed = { ...own.spec.names, kind: '' };
    assert.equal(isServed({ ...own, status: { ...own.status, conditions, acceptedNames: unnamed } }), false);
  });
});

describe('a printer column', () => {
  const now = Date.parse('2026-01-01T01:00:00Z');
  const object = {
    ...{ apiVersion: 'example.com/v1', kind: 'A', metadata: { name: 'x' } },
    spec: { n: 2.5, on: true, at: '2026-01-01T00:00:00Z', list: [{ a: 'b' }, { a: 'c' }], map: { k: 1 } },
  } as unknown as KubeObject;
  const cell = (type: string, jsonPath: string) => {
    const columns = printerColumns(
      version('v1', { additionalPrinterColumns: [{ name: 'C', type, jsonPath }] }),
    );
    return columns[1]?.cell(object, now);
  };

  it('shows the first value of its path by its type', () => {
    for (const [type, path, wanted] of [
      ['number', '.spec.n', 2.5],
      ['integer', '.spec.n', 2],
      ['string', '.spec.n', '2.5'],
      ['boolean', '.spec.on', true],
      ['date', '.spec.at', '60m'],
      ['string', '.spec.list[*].a', 'b'],
      ['string', '.spec.list[?(@.a=="c")].a', 'c'],
      ['string', '.spec.map', '{"k":1}'],
    ] as const)
      assert.equal(cell(type, path), wanted);
  });

  it('is empty for a missing field, a value of another type, and a path that fails', () => {
    for (const [type, path] of [
      ['string', '.spec.none'],
      ['integer', '.spec.on'],
      ['boolean', '.spec.n'],
      ['date', '.spec.n'],
      ['string', '.spec.list[7].a'],
      ['string', '.spec[?('],
    ] as const)
      assert.equal(cell(type, path), null);
  });

  it('shows the age of a kind without columns', () => {
    assert.deepEqual(
      printerColumns(version('v1')).map(({ name, type }) => [name, type]),
      [
        ['Name', 'string'],
        ['Age', 'date'],
      ],
    );
  });
});

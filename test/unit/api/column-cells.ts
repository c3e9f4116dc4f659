import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { cells, decode, merge } from '../../fixtures/kinds.ts';

export const now = Date.parse('2026-03-01T12:00:00Z');
export const before = (seconds: number) => new Date(now - seconds * 1000).toISOString();

/**
 * Declares a test of the cells of an object, by the names of their columns; other columns may have any value.
 */
export function testCells<T extends KubeObject>(
  kind: ResourceDefinition<T>,
  title: string,
  raw: object,
  expected: Readonly<Record<string, string | number>>,
): void {
  test(`${kind.singular}: ${title}`, () => {
    const head = {
      apiVersion: kind.group ? `${kind.group}/${kind.version}` : kind.version,
      kind: kind.kind,
      metadata: {
        name: 'web',
        creationTimestamp: before(95),
        ...(kind.namespaced && { namespace: 'default' }),
      },
    };
    const found = cells(kind, decode(kind, merge(head, raw)), now);
    const wanted = Object.keys(expected).map((name) => [name, found[name]]);
    assert.deepEqual(Object.fromEntries(wanted), expected);
  });
}

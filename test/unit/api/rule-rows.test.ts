/** Rows of rights: which rows of several controllers remain in the role of their account. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distinctRows, type RuleRow } from '../../../src/api/rbac/v1/rule-rows.ts';

const cases: readonly [what: string, rows: readonly RuleRow[], remaining: readonly RuleRow[]][] = [
  [
    'equal rows remain once',
    [
      ['get', 'core', 'pods'],
      ['get', 'core', 'pods'],
    ],
    [['get', 'core', 'pods']],
  ],
  [
    'a row with fewer verbs is left out, also before the other row',
    [
      ['get', 'core', 'pods'],
      ['get list', 'core', 'pods nodes'],
    ],
    [['get list', 'core', 'pods nodes']],
  ],
  [
    'rows of different verbs both remain',
    [
      ['get', 'core', 'pods'],
      ['list', 'core', 'pods'],
    ],
    [
      ['get', 'core', 'pods'],
      ['list', 'core', 'pods'],
    ],
  ],
  [
    'rows of different names both remain',
    [
      ['get', 'core', 'pods'],
      ['get', 'core', 'pods', 'a'],
    ],
    [
      ['get', 'core', 'pods'],
      ['get', 'core', 'pods', 'a'],
    ],
  ],
];

for (const [what, rows, remaining] of cases)
  test(what, () => assert.deepEqual(distinctRows(rows), remaining));

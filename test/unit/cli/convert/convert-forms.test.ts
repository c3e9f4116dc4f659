/**
 * Each form of another system's manifests becomes the matching object, with a note about every lost field.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseManifests } from '../../../../src/cli/manifests/manifests.ts';
import { dialectManifests } from '../../../fixtures/dialect-manifests.ts';
import { converted } from '../converted.ts';

function objectsOf(text: string) {
  return parseManifests(text, 'f', assert.fail, true).map((entry) => {
    if ('error' in entry) throw entry.error;
    return entry.object;
  });
}

describe('the converter', () => {
  for (const { form, text, specs, notes } of dialectManifests)
    it(`converts ${form}`, () => {
      const { made, notes: told, errors } = converted(...objectsOf(text));
      assert.deepEqual(errors, []);
      assert.deepEqual(
        made.map(({ spec }) => spec),
        specs,
      );
      assert.deepEqual(
        told.map((note) => note.replace(/^f: /, '')),
        notes,
      );
    });

  for (const [what, object, message] of [
    ['a node with labels', { Name: 'n1', Labels: { os: 'linux' } }, /^f: a machine becomes a node with/],
    ['a node', { kind: 'Node', metadata: { name: 'n1' } }, /^f: a machine becomes a node with/],
    [
      'an event',
      { type: 'time', params: '10s', name: 'add', args: 10 },
      /^f: an event that starts a function/,
    ],
    [
      'a word that YAML reads as true',
      {
        kind: 'Workflow',
        metadata: { name: 'w' },
        spec: {
          entryNodeName: 'c',
          workflowNodes: [
            {
              name: 'c',
              type: 'choice',
              choiceData: { checkVarName: true, checkType: 'numEqual', compareValue: 1 },
            },
          ],
        },
      },
      /^f: spec\.workflowNodes\[0\]\.choiceData\.checkVarName: expected text, got true; put the word in quotes$/,
    ],
    ['ports that are no list', { kind: 'Service', spec: { ports: 80 } }, /^f: spec\.ports: expected a list$/],
  ] as const)
    it(`has an advice for ${what}`, () => {
      const { made, errors } = converted(object);
      assert.deepEqual(made, []);
      assert.equal(errors.length, 1);
      assert.match(errors[0] ?? '', message);
    });

  it('prints the notes about a pod that an autoscaler copies once', () => {
    const { made, notes } = converted(
      {
        kind: 'Pod',
        metadata: { name: 'my_pod', labels: { a: 'b' } },
        spec: { containers: [{ name: 'My_C', resources: { limits: { memory: '64MB' } } }] },
      },
      {
        kind: 'Hpa',
        metadata: { name: 'h' },
        spec: { workload: { kind: 'Pod', name: 'my_pod' }, maxReplicas: 2, metrics: { cpuPercent: 50 } },
      },
    );
    assert.deepEqual(made[0]?.spec, {
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'my-c', resources: { limits: { memory: '64M' } } }] },
      },
    });
    assert.deepEqual(
      notes.filter((note) => note.includes('My_C')),
      ['f: spec.containers[0].name: My_C becomes my-c'],
    );
  });
});

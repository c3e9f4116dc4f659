import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CustomResourceDefinition } from '../../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import type { Others } from '../../../../src/controllers/custom-resources/accepted-names-plan.ts';
import { definitionStatus } from '../../../../src/controllers/custom-resources/definition-status-plan.ts';

type Names = CustomResourceDefinition['spec']['names'];

const now = '2026-01-01T00:00:00Z';
const namesOf = (plural: string, more: Partial<Names> = {}): Names => ({
  ...{ plural, singular: `${plural}-one`, kind: `Kind-${plural}`, listKind: `Kind-${plural}List` },
  ...more,
});

const definition = (names: Names, acceptedNames?: Names): CustomResourceDefinition =>
  ({
    metadata: { name: `${names.plural}.example.com` },
    spec: { group: 'example.com', scope: 'Cluster', names, versions: [] },
    status: { conditions: [], acceptedNames: acceptedNames ?? { plural: '', kind: '' }, storedVersions: [] },
  }) as unknown as CustomResourceDefinition;

const alone: Others = { definitions: [], builtIn: [] };

const shown = (status: CustomResourceDefinition['status']) =>
  status?.conditions?.map(({ type, status: state, reason, message }) => [type, state, reason, message]);

describe('the status of a definition', () => {
  it('accepts free names first, is then established, and does not change any more', () => {
    const one = definition(namesOf('as', { shortNames: ['a'], categories: ['all'] }));
    const first = definitionStatus(one, alone, now);
    assert.deepEqual(first?.acceptedNames, one.spec.names);
    assert.deepEqual(shown(first), [
      ['NamesAccepted', 'True', 'NoConflicts', 'no conflicts found'],
      ['Established', 'False', 'Installing', 'the initial names have been accepted'],
    ]);
    const second = definitionStatus({ ...one, status: first }, alone, now);
    assert.deepEqual(shown(second)?.[1], [
      ...['Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted'],
    ]);
    assert.equal(definitionStatus({ ...one, status: second }, alone, 'later'), undefined);
  });

  it('rejects names that other definitions of the group or built-in kinds use', () => {
    const builtIn = [
      { group: 'example.com', plural: 'cs', singular: 'c', shortNames: ['x'], kind: 'C' },
      { group: 'other.com', plural: 'ds', singular: 'd', shortNames: [], kind: 'D' },
    ];
    const others: Others = { definitions: [definition(namesOf('bs'), namesOf('bs'))], builtIn };
    const cases: readonly (readonly [Partial<Names>, string, string])[] = [
      [{ singular: 'bs' }, 'SingularConflict', '"bs" is already in use'],
      [{ kind: 'Kind-bs' }, 'KindConflict', '"Kind-bs" is already in use'],
      [{ kind: 'CList' }, 'KindConflict', '"CList" is already in use'],
      [{ listKind: 'C' }, 'ListKindConflict', '"C" is already in use'],
      [
        { shortNames: ['x', 'free', 'bs-one'] },
        'ShortNamesConflict',
        '["x" is already in use, "bs-one" is already in use]',
      ],
    ];
    for (const [names, reason, message] of cases) {
      const one = definition(namesOf('as', names));
      const status = definitionStatus(one, others, now);
      assert.deepEqual(shown(status), [
        ['NamesAccepted', 'False', reason, message],
        ['Established', 'False', 'NotAccepted', 'not all names are accepted'],
      ]);
      assert.equal(status?.acceptedNames?.plural, 'as', 'the free names are accepted');
    }
    assert.match(
      shown(definitionStatus(definition(namesOf('cs')), others, now))?.join() ?? '',
      /PluralConflict/,
    );
    assert.match(
      shown(definitionStatus(definition(namesOf('ds')), others, now))?.join() ?? '',
      /NoConflicts/,
    );
  });

  it('keeps accepted names that a new definition also requests, and stays established', () => {
    const names = namesOf('as');
    const one = definition(namesOf('as', { singular: 'new' }), names);
    const first = definitionStatus({ ...one, spec: { ...one.spec, names } }, alone, now);
    const established = definitionStatus({ ...one, spec: { ...one.spec, names }, status: first }, alone, now);
    const taken = definition(namesOf('bs', { singular: 'new' }), namesOf('bs', { singular: 'new' }));
    const status = definitionStatus({ ...one, status: established }, { ...alone, definitions: [taken] }, now);
    assert.equal(status?.acceptedNames?.singular, 'as-one');
    assert.deepEqual(
      status?.conditions?.map(({ type, status: state }) => [type, state]),
      [
        ['NamesAccepted', 'False'],
        ['Established', 'True'],
      ],
    );
  });
});

/** The first page: what needs attention. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inOneGo } from '../../../../src/apimachinery/steps.ts';
import {
  cardsOf,
  commandOf,
  fullName,
  matching,
  type Read,
  readingOf,
  severityCounts,
} from '../../../../src/dashboard/app/pages/attention/plan/attention.ts';
import { explainAll } from '../../../../src/why/explain.ts';
import type { KindKey } from '../../../../src/why/kinds.ts';
import { RuleBook } from '../../../../src/why/rule-book.ts';
import { rules } from '../../../../src/why/rules/index.ts';
import { Snapshot } from '../../../../src/why/snapshot.ts';
import { condition, node, now, pod } from '../../why/why-objects.ts';

const lost = node('n1', { status: { conditions: [condition('Ready', 'Unknown')] } });
const objects: Partial<Record<KindKey, Read>> = {
  nodes: { items: [lost], synced: true, refused: false },
  pods: {
    items: [
      pod('gated', { spec: { schedulingGates: [{ name: 'gate' }] } }),
      ...['a', 'b'].map((name) => pod(name, { spec: { nodeName: 'n1' }, status: { phase: 'Running' } })),
    ],
    synced: true,
    refused: false,
  },
};
const read = (more: Partial<Record<KindKey, Read>> = {}) => {
  const all = { ...objects, ...more };
  return readingOf((key) => all[key] ?? { items: [], synced: true, refused: false }, Date.parse(now));
};
const cards = cardsOf(inOneGo(explainAll(new Snapshot(read().source), new RuleBook(rules))));

describe('the objects that were read', () => {
  it('are complete when each kind was listed', () => {
    assert.equal(read().isComplete, true);
    assert.equal(read({ services: { items: [], synced: false, refused: false } }).isComplete, false);
  });

  it('lack the kinds that the user may not read, which are named', () => {
    const refused = read({ secrets: { items: [], synced: false, refused: true } });
    assert.deepEqual([refused.unread, refused.isComplete], [['secrets'], true]);
    assert.equal('secrets' in refused.source.objects, false);
  });
});

describe('the cards', () => {
  it('name each first cause once, the worst first, with the other objects that have it', () => {
    assert.deepEqual(
      cards.map(({ severity, subject, others }) => [severity, fullName(subject), others.map(fullName)]),
      [
        ['broken', 'node/n1', ['default/pod/a', 'default/pod/b']],
        ['waiting', 'default/pod/gated', []],
      ],
    );
  });

  it('keep their identity while other objects with the same cause come and go', () => {
    const fewer = {
      ...objects,
      pods: { items: objects.pods?.items.slice(0, 1) ?? [], synced: true, refused: false },
    };
    const again = cardsOf(inOneGo(explainAll(new Snapshot(read(fewer).source), new RuleBook(rules))));
    assert.equal(again[0]?.id, cards[0]?.id);
  });

  it('are counted by severity and found by their text', () => {
    assert.deepEqual(severityCounts(cards), { broken: 1, degraded: 0, waiting: 1 });
    assert.deepEqual(
      matching(cards, 'POD/B').map(({ id }) => id),
      [cards[0]?.id],
    );
    assert.deepEqual(
      matching(cards, 'is NOT scheduled').map(({ subject }) => subject.name),
      ['gated'],
    );
    assert.equal(matching(cards, ' ').length, 2);
  });

  it('have commands that can be pasted', () => {
    assert.equal(commandOf({ command: 'uncordon n1' }), 'minik8s ctl uncordon n1');
    assert.equal(commandOf({ advice: 'Wait.' }), undefined);
  });
});

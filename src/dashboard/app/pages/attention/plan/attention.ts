/** The explanations of problems in the cluster, as the first page shows them. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import type { Problem, Step } from '../../../../../why/explain.ts';
import { type KindKey, kindKeys, nameOf, type ObjectRef } from '../../../../../why/kinds.ts';
import { type LogQuestion, type Mend, type Severity, severities } from '../../../../../why/rule.ts';
import type { SnapshotSource } from '../../../../../why/snapshot.ts';

/** Kinds of which the rules read no more than the metadata. */
export const metadataKinds: readonly KindKey[] = ['secrets', 'configmaps', 'serviceaccounts'];

export interface Read {
  readonly items: readonly JsonObject[];
  readonly synced: boolean;
  readonly refused: boolean;
}

export interface Reading {
  readonly source: SnapshotSource;
  /** Names of the kinds that the user may not read; causes in them are not seen. */
  readonly unread: readonly string[];
  /** True once every kind that may be read has been listed. */
  readonly isComplete: boolean;
}

/** Returns the objects of all kinds for a snapshot. A kind that was not read is absent. */
export function readingOf(read: (key: KindKey) => Read | undefined, nowMs: number): Reading {
  const objects: Partial<Record<KindKey, readonly JsonObject[]>> = {};
  const unread: string[] = [];
  let isComplete = true;
  for (const key of kindKeys) {
    const found = read(key);
    if (!found || found.refused) unread.push(key);
    else if (found.synced) objects[key] = found.items;
    else isComplete = false;
  }
  return { source: { nowMs, objects }, unread, isComplete };
}

export interface Card {
  /** The same for the same cause, so that a card stays in its place. */
  readonly id: string;
  readonly severity: Severity;
  readonly subject: ObjectRef;
  /** Chain of causes from the subject to the first cause. */
  readonly steps: readonly { readonly about: ObjectRef; readonly says: string }[];
  readonly evidence: readonly string[];
  readonly mend: readonly Mend[];
  readonly log: LogQuestion | undefined;
  /** Other objects with the same cause. */
  readonly others: readonly ObjectRef[];
}

/** Returns a card for each problem in the order given; problems without a chain are left out. */
export const cardsOf = (problems: readonly Problem[]): readonly Card[] =>
  problems.flatMap(({ chain, subjects }) => {
    const [subject, ...others] = subjects;
    const last = chain.at(-1);
    return subject && last ? [cardOf(subject, others, chain, last)] : [];
  });

function cardOf(subject: ObjectRef, others: readonly ObjectRef[], chain: readonly Step[], last: Step): Card {
  const { evidence = [], mend = [], log } = last.finding;
  const { key, namespace, name } = last.about;
  const inChain = new Set(chain.map(({ about }) => idOf(about)));
  return {
    id: `${last.rule} ${key} ${namespace}/${name}`,
    severity: worst(chain.map(({ finding }) => finding.severity)),
    subject,
    steps: chain.map(({ about, finding }) => ({ about, says: finding.says })),
    evidence,
    mend,
    log,
    others: others.filter((other) => !inChain.has(idOf(other))),
  };
}

const idOf = ({ key, namespace, name }: ObjectRef) => `${key} ${namespace}/${name}`;

const worst = (found: readonly Severity[]): Severity =>
  severities.find((severity) => found.includes(severity)) ?? 'waiting';

/** Returns the number of cards of each severity. */
export function severityCounts(cards: readonly Card[]): Readonly<Record<Severity, number>> {
  const counts = { broken: 0, degraded: 0, waiting: 0 };
  for (const { severity } of cards) counts[severity]++;
  return counts;
}

/** Returns a command with the program's name, as it is pasted into a shell. */
export const commandOf = (mend: Mend): string | undefined =>
  'command' in mend ? `minik8s ctl ${mend.command}` : undefined;

/** Returns the cards whose objects or sentences contain a text, in any case. */
export function matching(cards: readonly Card[], text: string): readonly Card[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return cards;
  return cards.filter(({ steps, others, evidence }) =>
    [
      ...steps.flatMap(({ about, says }) => [fullName(about), says]),
      ...others.map(fullName),
      ...evidence,
    ].some((part) => part.toLowerCase().includes(wanted)),
  );
}

/** Returns `NAMESPACE/KIND/NAME`, or `KIND/NAME` for an object without a namespace. */
export const fullName = (ref: ObjectRef): string =>
  ref.namespace === '' ? nameOf(ref) : `${ref.namespace}/${nameOf(ref)}`;

/**
 * The kept counts equal the counts over all pods: random clusters that change, compared with a model that
 * iterates over every pod for every node.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { PodAffinityTerm, TopologySpreadConstraint } from '../../../src/api/core/v1/types.gen.ts';
import type { Labels } from '../../../src/apimachinery/labels.ts';
import { Cycle } from '../../../src/scheduler/cycle.ts';
import { interPodAffinity } from '../../../src/scheduler/plugins/inter-pod-affinity.ts';
import { topologySpread } from '../../../src/scheduler/plugins/topology-spread.ts';
import { podInfo } from '../../../src/scheduler/pod-info.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { node, pod } from '../controllers/objects.ts';

const keys = ['zone', 'host', 'rack'] as const;
const apps = ['web', 'db', 'cache'];
const namespaces = ['one', 'two'];

class Model {
  readonly random: SeededRandom;
  readonly nodes = new Map<string, Labels>();
  readonly pods = new Map<string, Pod>();
  readonly teams = new Map(namespaces.map((name) => [name, { team: name }]));
  readonly snapshot: Snapshot;
  #next = 0;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.snapshot = new Snapshot({
      namespaceLabels: (name) => this.teams.get(name),
      siblingsOf: () => undefined,
      volumes: {
        claim: () => undefined,
        volumesFor: () => [],
        volume: () => undefined,
        storageClass: () => undefined,
      },
    });
  }

  pick<T>(list: readonly T[]): T {
    return list[this.random.below(list.length)] as T;
  }

  step(): void {
    const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
    switch (this.random.below(9)) {
      case 0:
      case 1: {
        const name = this.pick(names);
        const labels: Record<string, string> = {};
        for (const key of keys) if (this.random.below(5) > 0) labels[key] = `${key}${this.random.below(3)}`;
        this.nodes.set(name, labels);
        this.snapshot.setNode(node(name, { labels }));
        return;
      }
      case 2: {
        const name = this.pick(names);
        this.nodes.delete(name);
        this.snapshot.removeNode(name);
        return;
      }
      case 3: {
        const [uid] = this.pods.keys();
        if (!uid) return;
        this.pods.delete(uid);
        this.snapshot.removePod(uid);
        return;
      }
      case 4: {
        const old = [...this.pods.values()].at(-1);
        if (old) this.show({ ...old, metadata: { ...old.metadata, labels: { app: this.pick(apps) } } });
        return;
      }
      case 5: {
        const old = [...this.pods.values()].at(0);
        if (old)
          this.show({ ...old, metadata: { ...old.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
        return;
      }
      case 6: {
        const name = this.pick(namespaces);
        this.teams.set(name, { team: this.pick(namespaces) });
        this.snapshot.namespaceChanged(name);
        return;
      }
      default:
        this.show(this.made(this.pick(names)));
    }
  }

  show(one: Pod): void {
    this.pods.set(one.metadata.uid, one);
    this.snapshot.setPod(one);
  }

  made(nodeName: string | undefined): Pod {
    const name = `p${this.#next++}`;
    const terms = () => Array.from({ length: this.random.below(3) }, () => this.term());
    const side = () => ({ requiredDuringSchedulingIgnoredDuringExecution: terms() });
    const podAffinity = this.random.below(2) ? side() : undefined;
    const podAntiAffinity = this.random.below(2) ? side() : undefined;
    const namespace = this.pick(namespaces);
    const metadata = { labels: { app: this.pick(apps) }, namespace, uid: name };
    const nodeSelector = this.random.below(3) ? undefined : { zone: 'zone1' };
    const topologySpreadConstraints = this.constraints();
    const affinity = { podAffinity, podAntiAffinity };
    return pod(name, { metadata, spec: { nodeName, nodeSelector, affinity, topologySpreadConstraints } });
  }

  term(): PodAffinityTerm {
    const [names, some] = [this.random.below(3), this.random.below(3)];
    return {
      topologyKey: this.pick(keys),
      ...(this.random.below(6) > 0 && { labelSelector: this.selector() }),
      ...(names === 0 && { namespaces: [this.pick(namespaces)] }),
      ...(some === 0 && { namespaceSelector: { matchLabels: { team: this.pick(namespaces) } } }),
      ...(some === 1 && names === 1 && { namespaceSelector: {} }),
    };
  }

  selector() {
    const values = [this.pick(apps), this.pick(apps)];
    if (this.random.below(4) === 0)
      return { matchExpressions: [{ key: 'app', operator: 'NotIn' as const, values }] };
    if (this.random.below(4) === 0)
      return { matchExpressions: [{ key: 'app', operator: 'In' as const, values }] };
    return { matchLabels: { app: this.pick(apps) } };
  }

  constraints(): TopologySpreadConstraint[] {
    return keys.slice(0, this.random.below(3)).map((topologyKey) => ({
      topologyKey,
      maxSkew: 1 + this.random.below(2),
      whenUnsatisfiable: 'DoNotSchedule' as const,
      labelSelector: this.selector(),
      ...(this.random.below(3) === 0 && { minDomains: 1 + this.random.below(3) }),
      ...(this.random.below(3) === 0 && { nodeAffinityPolicy: 'Ignore' as const }),
    }));
  }

  // The model follows: it keeps no counts and iterates over everything.

  labelsMatch(selector: PodAffinityTerm['labelSelector'], labels: Labels = {}): boolean {
    if (!selector) return false;
    const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
    return (
      equal &&
      (selector.matchExpressions ?? []).every(
        ({ key, operator, values = [] }) => values.includes(labels[key] ?? '') === (operator === 'In'),
      )
    );
  }

  means(term: PodAffinityTerm, holder: Pod, other: Pod): boolean {
    const { namespace = '' } = other.metadata;
    const { namespaces: named = [], namespaceSelector } = term;
    const own = named.length === 0 && !namespaceSelector;
    const there =
      (own && namespace === holder.metadata.namespace) ||
      named.includes(namespace) ||
      (namespaceSelector !== undefined && this.labelsMatch(namespaceSelector, this.teams.get(namespace)));
    return there && this.labelsMatch(term.labelSelector, other.metadata.labels);
  }

  placed(): [Pod, Labels][] {
    return [...this.pods.values()].flatMap((one): [Pod, Labels][] => {
      const labels = this.nodes.get(one.spec.nodeName ?? '');
      return labels ? [[one, labels]] : [];
    });
  }

  fits(one: Pod, labels: Labels): boolean {
    return this.spreads(one, labels) && this.isNear(one, labels) && this.isAway(one, labels);
  }

  isAway(one: Pod, labels: Labels): boolean {
    const required = ({ spec }: Pod) =>
      spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const together = (key: string, there: Labels) => labels[key] !== undefined && there[key] === labels[key];
    return this.placed().every(
      ([other, there]) =>
        !required(one).some((term) => this.means(term, one, other) && together(term.topologyKey, there)) &&
        !required(other).some((term) => this.means(term, other, one) && together(term.topologyKey, there)),
    );
  }

  isNear(one: Pod, labels: Labels): boolean {
    const terms = one.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    if (terms.some(({ topologyKey }) => labels[topologyKey] === undefined)) return false;
    const meant = this.placed().filter(([other]) => terms.every((term) => this.means(term, one, other)));
    if (terms.every(({ topologyKey: key }) => meant.some(([, there]) => there[key] === labels[key])))
      return true;
    const nobody = !meant.some(([, there]) =>
      terms.some(({ topologyKey }) => there[topologyKey] !== undefined),
    );
    return nobody && terms.every((term) => this.means(term, one, one));
  }

  spreads(one: Pod, labels: Labels): boolean {
    return (one.spec.topologySpreadConstraints ?? []).every((constraint) => {
      const { topologyKey: key, maxSkew, minDomains = 1, labelSelector } = constraint;
      const own = labels[key];
      if (own === undefined) return false;
      const domains = this.domainsOf(one, constraint);
      const least = domains.size < minDomains || domains.size === 0 ? 0 : Math.min(...domains.values());
      const itself = this.labelsMatch(labelSelector, one.metadata.labels) ? 1 : 0;
      return (domains.get(own) ?? 0) + itself - least <= maxSkew;
    });
  }

  domainsOf(one: Pod, { topologyKey, labelSelector, nodeAffinityPolicy }: TopologySpreadConstraint) {
    const counts = (there: Labels) =>
      (one.spec.topologySpreadConstraints ?? []).every((other) => there[other.topologyKey] !== undefined) &&
      (nodeAffinityPolicy === 'Ignore' ||
        Object.entries(one.spec.nodeSelector ?? {}).every(([name, value]) => there[name] === value));
    const domains = new Map<string, number>();
    for (const there of this.nodes.values()) if (counts(there)) domains.set(there[topologyKey] ?? '', 0);
    const meant = this.placed().filter(
      ([{ metadata }, there]) =>
        counts(there) &&
        metadata.namespace === one.metadata.namespace &&
        !metadata.deletionTimestamp &&
        this.labelsMatch(labelSelector, metadata.labels),
    );
    for (const [, there] of meant)
      domains.set(there[topologyKey] ?? '', (domains.get(there[topologyKey] ?? '') ?? 0) + 1);
    return domains;
  }
}

const plugins = [topologySpread, interPodAffinity];

function feasibleBy({ snapshot }: Model, one: Pod): string[] {
  const cycle = Cycle.begin(podInfo(one), snapshot, plugins);
  assert.ok(cycle instanceof Cycle);
  return snapshot.nodes
    .filter((info) => cycle.fits(info))
    .map(({ name }) => name)
    .sort();
}

it('cached counts give the same suitable nodes as counting anew', () => {
  let [taken, refused] = [0, 0];
  for (let seed = 1; seed <= 60; seed++) {
    const model = new Model(seed);
    const asked = Array.from({ length: 4 }, () => model.made(undefined));
    for (let step = 0; step < 80; step++) {
      model.step();
      for (const one of [model.pick(asked), model.made(undefined)]) {
        const expected = [...model.nodes]
          .filter(([, labels]) => model.fits(one, labels))
          .map(([name]) => name)
          .sort();
        assert.deepEqual(feasibleBy(model, one), expected, `seed ${seed}, step ${step}`);
        taken += expected.length;
        refused += model.nodes.size - expected.length;
      }
    }
  }
  assert.ok(taken > 1_000 && refused > 1_000, `${taken} ${refused}`);
});

it('pods that are added and removed in a simulation are counted like real pods', () => {
  let compared = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const model = new Model(seed);
    for (let step = 0; step < 60; step++) model.step();
    const one = model.made(undefined);
    const cycle = Cycle.begin(podInfo(one), model.snapshot, plugins);
    assert.ok(cycle instanceof Cycle);
    for (const info of model.snapshot.nodes) {
      const there = [...info.pods.values()];
      const gone = there.filter(() => model.random.below(2));
      const come = podInfo(model.made(info.name));
      const trial = cycle.trial(info);
      for (const other of gone) trial.remove(other);
      trial.add(come);
      for (const { pod: other } of gone) model.pods.delete(other.metadata.uid);
      model.pods.set(come.pod.metadata.uid, come.pod);
      const expected = model.fits(one, model.nodes.get(info.name) ?? {});
      assert.equal(trial.fits(), expected, `seed ${seed}, ${info.name}`);
      model.pods.delete(come.pod.metadata.uid);
      for (const { pod: other } of gone) model.pods.set(other.metadata.uid, other);
      compared++;
    }
  }
  assert.ok(compared > 200, String(compared));
});

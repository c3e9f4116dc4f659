/** The kernel accepts every table and every change of network policies, and ends with the wanted elements. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { directions } from '../../../src/network/policies/plan/compiled-policy.ts';
import { PolicyIndex } from '../../../src/network/policies/plan/policy-index.ts';
import { policyPodOf } from '../../../src/network/policies/plan/policy-pod.ts';
import { policyTable, renderChange, renderTable } from '../../../src/network/policies/plan/render.ts';
import type { Family, PolicyTables } from '../../../src/network/policies/plan/tables.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { ipsOf } from '../../unit/network/policies/oracle.ts';
import { Draw } from '../../unit/network/policies/random-cluster.ts';

const namespace = `minik8s-policy-test-${process.pid}`;
const nft = (args: readonly string[], input?: string) =>
  systemExec('ip', ['netns', 'exec', namespace, 'nft', ...args], { input, timeoutMs: 60_000 });

before(() => systemExec('ip', ['netns', 'add', namespace]));
after(() => systemExec('ip', ['netns', 'delete', namespace]));

interface Listed {
  readonly chain?: { readonly name: string };
  readonly set?: { readonly name: string; readonly elem?: readonly unknown[] };
  readonly map?: { readonly name: string; readonly elem?: readonly unknown[] };
}

/** Reads the names of the chains, sets and maps, with the numbers of elements. */
async function inKernel(family: Family): Promise<Readonly<Record<string, number>>> {
  const { stdout } = await nft(['-j', 'list', 'table', family, policyTable]);
  const { nftables } = JSON.parse(stdout) as { nftables: readonly Listed[] };
  return Object.fromEntries(
    nftables.flatMap(({ chain, set, map }) => {
      if (chain) return [[`chain ${chain.name}`, 0]];
      const elements = set ?? map;
      return elements ? [[`elements ${elements.name}`, elements.elem?.length ?? 0]] : [];
    }),
  );
}

function wanted({ sets, chains, verdicts }: PolicyTables): Readonly<Record<string, number>> {
  const isolated = new Set(directions.flatMap((direction) => [...verdicts[direction].keys()]));
  return Object.fromEntries([
    ...[...chains.keys(), ...directions].map((name) => [`chain ${name}`, 0]),
    ...[...sets].map(([name, { elements }]) => [`elements ${name}`, elements.size]),
    ...directions.map((direction) => [`elements ${direction}`, verdicts[direction].size]),
    ['elements self', isolated.size],
  ]);
}

const keyOf = ({ metadata: { namespace: own, name } }: { metadata: { namespace?: string; name: string } }) =>
  `${own}/${name}`;

function setPod(index: PolicyIndex, pod: Pod, isGone = false): void {
  const known = isGone ? undefined : policyPodOf(pod);
  index.setPod(keyOf(pod), known);
  for (const ip of ipsOf(pod)) index.setLocal(ip, known);
}

/** Writes the index to the kernel, and checks what the kernel has then. */
class Kernel {
  readonly #tables: Partial<Record<Family, PolicyTables>> = {};

  async write(index: PolicyIndex, what: string): Promise<void> {
    for (const family of ['ip', 'ip6'] as const) {
      const before = this.#tables[family];
      const next = index.tables(family);
      await nft(['-f', '-'], before ? renderChange(family, before, next) : renderTable(family, next));
      this.#tables[family] = next;
      assert.deepEqual(await inKernel(family), wanted(next), what);
    }
  }
}

function changeOne(index: PolicyIndex, draw: Draw): void {
  const policy = draw.policy(`policy-${draw.below(6)}`);
  if (draw.chance(0.5)) index.setPolicy(keyOf(policy), draw.chance(0.7) ? policy : undefined);
  else setPod(index, draw.pod(draw.below(6) + 1), draw.chance(0.3));
}

for (let seed = 1; seed <= 4; seed++) {
  test(`the kernel has the wanted chains and elements after random changes from seed ${seed}`, async () => {
    const draw = new Draw(new SeededRandom(seed));
    const { namespaces, pods, policies } = draw.cluster();
    const index = new PolicyIndex();
    for (const [name, labels] of Object.entries(namespaces)) index.setNamespace(name, labels);
    for (const pod of pods) setPod(index, pod);
    for (const policy of policies) index.setPolicy(keyOf(policy), policy);
    const kernel = new Kernel();
    await kernel.write(index, 'the whole table');
    for (let step = 0; step < 8; step++) {
      changeOne(index, draw);
      await kernel.write(index, `step ${step}`);
    }
  });
}

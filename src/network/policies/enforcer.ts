/**
 * Keeps the kernel's tables of network policies in step with the cluster. An event changes the index and
 * wakes the next round; a round applies the difference as one transaction. The kernel is never listed: after
 * a failed transaction, and when another program has deleted rules, the whole table is written again. The
 * tables stay in the kernel when the agent ends.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { answerWithin } from '../../base/answer-within.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { type Failure, keepDoing, Wake } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import type { Exec } from '../../os/exec.ts';
import type { RuleKeeper } from '../../os/rule-watch.ts';
import { KnownFacts } from './known-facts.ts';
import { PolicyIndex } from './plan/policy-index.ts';
import { type PolicyPod, policyPodOf, samePolicyPod } from './plan/policy-pod.ts';
import { policyTable, renderChange, renderRemoval, renderTable } from './plan/render.ts';
import type { Family, PolicyTables } from './plan/tables.ts';
import { PolicyObjects, type PolicyObjectsOptions } from './policy-objects.ts';

export interface PolicyEnforcerOptions
  extends Pick<PolicyObjectsOptions, 'informers' | 'peerInformers' | 'ownPods'> {
  readonly exec: Exec;
  /** Reports rules that another program has deleted; undefined where they are not watched. */
  readonly rules: RuleKeeper | undefined;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  /** File of the facts that a start without an API server needs. */
  readonly path: string;
}

const retry = { initialMs: 100, maxMs: 5_000 };
/** Timeout for the rules of a pod that is about to start; the pod is tried again later. */
const protectionTimeoutMs = 10_000;
const families: readonly Family[] = ['ip', 'ip6'];
/** Subject of the report about deleted rules. */
export const policyRules = 'network policies';

export class PolicyEnforcer {
  readonly #options: PolicyEnforcerOptions;
  readonly #index = new PolicyIndex();
  readonly #objects: PolicyObjects;
  readonly #known: KnownFacts;
  readonly #wake = new Wake();
  /** Pods of this node by address. */
  readonly #local = new Map<string, PolicyPod>();
  /** Tables in the kernel; undefined for a table that must be written whole. */
  readonly #kernel: Record<Family, PolicyTables | undefined> = { ip: undefined, ip6: undefined };
  readonly #waiting = new Set<() => void>();
  #failure: string | undefined;

  constructor(options: PolicyEnforcerOptions) {
    const { clock, log, path } = options;
    this.#options = options;
    const read = () => this.#objects.facts(Object.fromEntries(this.#local));
    this.#known = new KnownFacts({ path, clock, log, read });
    const onChange = () => this.#changed();
    this.#objects = new PolicyObjects({ ...options, index: this.#index, onChange });
    options.rules?.keep({
      what: policyRules,
      owns: (chain) => families.some((family) => this.#isUsed(family) && isBase(chain, family)),
      restore: () => this.#rewrite(),
    });
  }

  /**
   * Resolves when the rules of every policy that selects the pod are in force for its address. Rejects with a
   * message of one line when they are not after some seconds.
   */
  async protect(pod: Pod, ip: string): Promise<void> {
    const known = policyPodOf(pod, [ip]);
    if (!known) return;
    const isNew = !samePolicyPod(this.#index.local(ip), known);
    this.#local.set(ip, known);
    if (isNew) this.#index.setLocal(ip, known);
    if (!isNew && this.#isInForce(ip)) return;
    const settled = this.#settled();
    this.#changed();
    if (this.#objects.isKnown && this.#index.selecting(ip).length === 0) return;
    const answer = await answerWithin(this.#options.clock, protectionTimeoutMs, settled);
    if (answer === undefined) throw new Error(this.#whyNot());
  }

  /** Forgets the pod at an address that no process uses any more. */
  release(ip: string): void {
    this.#local.delete(ip);
    this.#index.setLocal(ip, undefined);
    this.#changed();
  }

  /** Puts the facts of an earlier run in force; must be called before the first pod starts. */
  async load(): Promise<void> {
    const facts = await this.#known.load();
    if (!facts) return;
    for (const [ip, pod] of Object.entries(facts.local)) this.#local.set(ip, pod);
    this.#objects.restore(facts);
  }

  /** Writes rules until the signal aborts. They are kept in the kernel. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const onError = (error: unknown, failure: Failure) => this.#failed(error, failure);
    const rounds = {
      clock,
      signal,
      wake: this.#wake,
      backoff: new Backoff(retry),
      onError,
      wakesRetry: false,
    };
    await keepDoing(rounds, () => this.#round());
    await this.#known.close();
  }

  /** Reads policies and what they select until the signal aborts. */
  read(signal: AbortSignal): Promise<void> {
    return this.#objects.run(signal);
  }

  #changed(): void {
    this.#known.changed();
    this.#wake.call();
  }

  /** Resolves to true after a round that begins later and succeeds. */
  #settled(): Promise<true> {
    const { promise, resolve } = Promise.withResolvers<true>();
    this.#waiting.add(() => resolve(true));
    return promise;
  }

  #isInForce(ip: string): boolean {
    if (!this.#objects.isKnown) return false;
    const tables = this.#kernel[ip.includes(':') ? 'ip6' : 'ip'];
    if (!tables) return false;
    const next = this.#index.tables(ip.includes(':') ? 'ip6' : 'ip');
    return (['ingress', 'egress'] as const).every(
      (direction) => next.verdicts[direction].get(ip) === tables.verdicts[direction].get(ip),
    );
  }

  async #round(): Promise<void> {
    if (!this.#objects.isKnown) return;
    const waiting = [...this.#waiting];
    for (const family of families) await this.#apply(family);
    this.#failure = undefined;
    for (const resolve of waiting) {
      this.#waiting.delete(resolve);
      resolve();
    }
  }

  async #apply(family: Family): Promise<void> {
    const tables = this.#index.tables(family);
    const before = this.#kernel[family];
    const script = scriptOf(family, before, tables);
    // A failed transaction changes nothing, but which one failed is not known after a timeout.
    this.#kernel[family] = undefined;
    if (script !== '') await this.#options.exec('nft', ['-f', '-'], { input: script });
    this.#kernel[family] = tables;
  }

  #failed(error: unknown, { retryMs, isNew }: Failure): void {
    this.#failure = errorMessage(error);
    if (!isNew) return;
    const { log, events } = this.#options;
    log.error('the nft rules of network policies were not applied; writing all of them again', {
      error: this.#failure,
      inMs: retryMs,
    });
    const message = `Network policies are not in force for changes since the last success: ${this.#failure}`;
    if (this.#index.size > 0) events.event(this.#node, 'Warning', 'NetworkPoliciesNotApplied', message);
  }

  #whyNot(): string {
    const why = this.#failure ?? 'the policies have not been read from the API server yet';
    return `network policies that select the pod are not in force: ${why}`;
  }

  get #node(): KubeObject {
    const { nodeName } = this.#options;
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: nodeName, uid: nodeName } as KubeObject['metadata'],
    };
  }

  #isUsed(family: Family): boolean {
    const tables = this.#kernel[family];
    return tables !== undefined && !isEmpty(tables);
  }

  /** Writes all rules again: another program may have deleted some. */
  #rewrite(): void {
    for (const family of families) this.#kernel[family] = undefined;
    this.#wake.call();
  }
}

/** Transactions of the enforcer never delete a rule of a base chain without writing it again. */
const isBase = (chain: string, family: Family): boolean =>
  ['ingress', 'egress'].some((name) => chain === `${family} ${policyTable} ${name}`);

const isEmpty = ({ verdicts: { ingress, egress } }: PolicyTables): boolean =>
  ingress.size === 0 && egress.size === 0;

/** A table without an isolated pod is removed. */
function scriptOf(family: Family, before: PolicyTables | undefined, after: PolicyTables): string {
  if (isEmpty(after)) {
    // A kernel may have no IPv6: its tables are touched only where a pod has such an address.
    const isUnused = before ? isEmpty(before) : family === 'ip6';
    return isUnused ? '' : renderRemoval(family);
  }
  return before && !isEmpty(before) ? renderChange(family, before, after) : renderTable(family, after);
}

/** Removes everything that the enforcement created in the kernel; does nothing if there is nothing. */
export async function removePolicyRules(exec: Exec): Promise<void> {
  await exec('nft', ['-f', '-'], { input: renderRemoval('ip') });
  // A kernel without IPv6 has no such table.
  await exec('nft', ['-f', '-'], { input: renderRemoval('ip6') }).catch(() => undefined);
}

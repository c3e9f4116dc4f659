/**
 * The facts from which rules are made, kept on disk: after a restart of the machine pods start with rules
 * while no API server answers.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { NetworkPolicy } from '../../api/networking/v1/network-policy.ts';
import type { Labels } from '../../apimachinery/labels.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { replaceFile } from '../../os/replace-file.ts';
import type { PolicyPod } from './plan/policy-pod.ts';

export interface PolicyFacts {
  readonly policies: readonly NetworkPolicy[];
  readonly namespaces: Readonly<Record<string, Labels>>;
  /** Pods of the cluster by NAMESPACE/NAME. */
  readonly pods: Readonly<Record<string, PolicyPod>>;
  /** Pods of this node by address. */
  readonly local: Readonly<Record<string, PolicyPod>>;
}

const saveMs = 2_000;

export interface KnownFactsOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns the facts to keep; undefined while they are not known. */
  readonly read: () => PolicyFacts | undefined;
}

export class KnownFacts {
  readonly #options: KnownFactsOptions;
  #text = '';
  #timer: Timer | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(options: KnownFactsOptions) {
    this.#options = options;
  }

  /** Returns the facts that an earlier run kept; undefined if there are none, or they cannot be read. */
  async load(): Promise<PolicyFacts | undefined> {
    try {
      this.#text = await readFile(this.#options.path, 'utf8');
      return JSON.parse(this.#text) as PolicyFacts;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      const what = { error: errorMessage(error), path: this.#options.path };
      this.#options.log.warn(
        'cannot read the network policies of the last run; waiting for the API server',
        what,
      );
      return undefined;
    }
  }

  /** Writes the facts some time later. */
  changed(): void {
    this.#timer ??= this.#options.clock.after(saveMs, () => {
      this.#timer = undefined;
      this.#save();
    });
  }

  /** Writes pending changes. */
  async close(): Promise<void> {
    if (this.#timer) {
      this.#timer.cancel();
      this.#save();
    }
    await this.#saving;
  }

  #save(): void {
    const { path, log, read } = this.#options;
    const facts = read();
    const text = facts && JSON.stringify(facts);
    if (text === undefined || text === this.#text) return;
    this.#text = text;
    this.#saving = this.#saving
      .then(() => mkdir(dirname(path), { recursive: true, mode: 0o700 }))
      .then(() => replaceFile(path, text, { mode: 0o600 }))
      .catch((error) => {
        this.#text = '';
        log.error('cannot write the network policies to disk', { error: errorMessage(error), path });
      });
  }
}

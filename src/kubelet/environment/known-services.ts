/**
 * The Services for containers' environments. They are read once before the first container starts, so that no
 * container misses an existing Service. The last state is kept on disk, so that containers also start after a
 * restart of the agent while no API server answers.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Service } from '../../api/core/v1/service/service.ts';
import { unlessAborted } from '../../base/abort.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Informer } from '../../client/informer.ts';
import { replaceFile } from '../../os/replace-file.ts';
import type { NamedService } from './plan/service-variables.ts';

export interface KnownServicesOptions {
  /** Services of all namespaces; the caller starts the informer. */
  readonly informer: Informer<Service>;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
}

const saveMs = 2000;

export class KnownServices {
  readonly #options: KnownServicesOptions;
  readonly #path: string;
  #saved: readonly NamedService[] | undefined;
  #savedText = '';
  #timer: Timer | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(options: KnownServicesOptions) {
    this.#options = options;
    this.#path = join(options.dataDir, 'services.json');
    const { informer } = options;
    const changed = () => this.#changed();
    informer.addEventHandler({ onAdd: changed, onUpdate: changed, onDelete: changed });
    void informer.synced.then(changed);
  }

  /** Loads the Services saved by an earlier run. */
  async load(): Promise<void> {
    try {
      this.#savedText = await readFile(this.#path, 'utf8');
      this.#saved = JSON.parse(this.#savedText) as readonly NamedService[];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      const { log } = this.#options;
      log.warn('cannot read the Services saved by the last run; reading them from the API server', {
        error: errorMessage(error),
      });
    }
  }

  /**
   * Returns the Services, from the API server or as they were last read; waits until they have been read
   * once. Rejects when the signal aborts.
   */
  async list(signal: AbortSignal): Promise<readonly NamedService[]> {
    const { informer } = this.#options;
    if (!informer.hasSynced && this.#saved) return this.#saved;
    await unlessAborted(signal, informer.synced);
    return informer.lister.list();
  }

  /** Writes pending changes. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#save();
    await this.#saving;
  }

  #changed(): void {
    this.#timer ??= this.#options.clock.after(saveMs, () => {
      this.#timer = undefined;
      this.#save();
    });
  }

  #save(): void {
    const { informer, log } = this.#options;
    if (!informer.hasSynced) return;
    const text = JSON.stringify(informer.lister.list().map(variablePart));
    if (text === this.#savedText) return;
    this.#savedText = text;
    this.#saving = this.#saving
      .then(() => mkdir(dirname(this.#path), { recursive: true, mode: 0o700 }))
      .then(() => replaceFile(this.#path, text, { mode: 0o600 }))
      .catch((error) => log.error('cannot write the Services to disk', { error: errorMessage(error) }));
  }
}

const variablePart = ({ metadata, spec }: Service): NamedService => ({
  metadata: { name: metadata.name, namespace: metadata.namespace },
  spec: {
    clusterIP: spec.clusterIP,
    ports: spec.ports?.map(({ name, port, protocol }) => ({ name, port, protocol })),
  },
});

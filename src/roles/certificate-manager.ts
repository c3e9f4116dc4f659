/** Certificates that this process issues with the cluster's authority, renewed for as long as it runs. */
import type { Clock } from '../base/clock.ts';
import { type Current, type Replaceable, replaceable } from '../base/current.ts';
import { keepDoing } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Credentials, LeafRequest } from '../pki/credentials.ts';
import type { KeyAndCertificate } from '../pki/x509.ts';

/** Certificates are renewed two months before they expire, so checking once a day is often enough. */
const checkMs = 24 * 3600 * 1000;

interface HeldLeaf {
  readonly request: LeafRequest;
  readonly leaf: Replaceable<KeyAndCertificate>;
}

export class CertificateManager {
  readonly #credentials: Credentials;
  readonly #leaves: HeldLeaf[] = [];

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  async leaf(request: LeafRequest): Promise<Current<KeyAndCertificate>> {
    const leaf = replaceable(await this.#credentials.leaf(request));
    this.#leaves.push({ request, leaf });
    return leaf;
  }

  /** Checks once a day which certificates are due for renewal. Resolves when the signal aborts. */
  async run({ clock, log }: { readonly clock: Clock; readonly log: Logger }, signal: AbortSignal) {
    await keepDoing({ clock, signal, restMs: checkMs, restsFirst: true }, () => this.renewAll(log));
  }

  /** Renews the certificates that expire soon, or that another authority than the current one has signed. */
  async renewAll(log: Logger): Promise<void> {
    for (const held of this.#leaves) await this.#renew(held, log);
  }

  async #renew({ request, leaf }: HeldLeaf, log: Logger): Promise<void> {
    try {
      const next = await this.#credentials.leaf(request);
      if (next.certificate === leaf.value.certificate) return;
      leaf.replace(next);
      log.info('a certificate was renewed', { file: request.file });
    } catch (error) {
      const fields = { file: request.file, error: errorMessage(error) };
      log.error('a certificate could not be renewed; trying again tomorrow', fields);
    }
  }
}

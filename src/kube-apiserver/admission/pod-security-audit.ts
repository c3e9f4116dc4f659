/**
 * What would not be allowed by the level that a namespace is audited against. There is no audit log: it is a line of the server's
 * own, and each namespace has so many, since whoever may create pods may make any number of them.
 */
import type { Admission } from '../../apiserver/admission/plugin.ts';
import { TokenBuckets } from '../../base/token-buckets.ts';
import type { KubeContext } from '../context.ts';

export const auditBurst = 20;
/** Milliseconds until a namespace that has had so many has another. */
export const auditPause = 10_000;

/** It has values of the pod in it, which are of any length and have any characters. */
const shown = (what: string) => what.replace(/\p{C}/gu, '?').slice(0, 1_000);

export class PodSecurityAudit {
  readonly #server: Pick<KubeContext, 'clock' | 'log'>;
  readonly #lines = new TokenBuckets({ burst: auditBurst, refillMs: auditPause, keys: 1_000 });
  #untold = 0;

  constructor(server: Pick<KubeContext, 'clock' | 'log'>) {
    this.#server = server;
  }

  tell({ definition, namespace, name, user }: Admission, what: string): void {
    if (this.#lines.take(namespace, this.#server.clock.now()) > 0) {
      this.#untold++;
      return;
    }
    const untold = this.#untold > 0 ? { untold: this.#untold } : {};
    this.#untold = 0;
    this.#server.log.info(shown(what), {
      kind: definition.kind,
      namespace,
      name,
      user: user.name,
      ...untold,
    });
  }
}

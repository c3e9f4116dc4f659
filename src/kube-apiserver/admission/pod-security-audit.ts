/**
 * Logs pods that violate the audit level of their namespace. There is no audit log, so the lines go to the
 * server's own log. Each namespace has a limited number of lines, since users may create any number of pods.
 */
import type { Admission } from '../../apiserver/admission/plugin.ts';
import { TokenBuckets } from '../../base/token-buckets.ts';
import type { KubeContext } from '../context.ts';

export const auditBurst = 20;
/** Milliseconds after which a namespace at the limit may log another line. */
export const auditPause = 10_000;

/** Sanitizes values of the pod in a line: they may have any length and any characters. */
const shown = (what: string) => what.replace(/\p{C}/gu, '?').slice(0, 1_000);

export class PodSecurityAudit {
  readonly #server: Pick<KubeContext, 'clock' | 'log'>;
  readonly #lines = new TokenBuckets({ burst: auditBurst, refillMs: auditPause, keys: 1_000 });
  #omitted = 0;

  constructor(server: Pick<KubeContext, 'clock' | 'log'>) {
    this.#server = server;
  }

  record({ definition, namespace, name, user }: Admission, what: string): void {
    if (this.#lines.take(namespace, this.#server.clock.now()) > 0) {
      this.#omitted++;
      return;
    }
    const omitted = this.#omitted > 0 ? { omitted: this.#omitted } : {};
    this.#omitted = 0;
    this.#server.log.info(shown(what), {
      kind: definition.kind,
      namespace,
      name,
      user: user.name,
      ...omitted,
    });
  }
}

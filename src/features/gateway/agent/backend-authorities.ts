/** Files of the authorities that BackendTLSPolicies trust, for the node's web server. */
import type { ConfigMap } from '../../../api/core/v1/config-map.ts';
import { answerWithin } from '../../../base/answer-within.ts';
import type { Clock } from '../../../base/clock.ts';
import { authorityBundle } from '../../../http/authority-bundle.ts';
import { authoritiesFile, type CertificateFile } from '../../../web-server/certificate-file.ts';
import type { BackendTls } from '../../../web-server/rule.ts';
import { authoritiesOf, namedConfigMaps } from '../api/backend-tls.ts';
import { byAge } from '../api/classes.ts';
import type { BackendTlsPolicy } from '../api/kinds.ts';
import { unservedReason } from '../api/policy-problem.ts';

/** Objects that are watched one by one, by NAMESPACE/NAME. */
export interface ObjectSource<T> {
  watch(keys: Iterable<string>): void;
  /** Resolves when every watched object has been read once. */
  allRead(): Promise<void>;
  get(key: string): T | undefined;
  close(): void;
}

interface AuthorityOptions {
  readonly configMaps: ObjectSource<ConfigMap>;
  readonly systemAuthorities: () => Promise<string>;
  readonly clock: Clock;
}

export interface BackendConnections {
  /** Returns how to connect to backends of the policy, or why that is impossible. */
  readonly tlsOf: (policy: BackendTlsPolicy) => BackendTls | { readonly message: string };
  readonly files: readonly CertificateFile[];
}

/** Time for which a round waits for ConfigMaps that have not been read yet. */
const readMs = 5000;

export class BackendAuthorities {
  readonly #options: AuthorityOptions;
  readonly #bundles = new WeakMap<ConfigMap, ReturnType<typeof authorityBundle>>();

  constructor(options: AuthorityOptions) {
    this.#options = options;
  }

  /** Resolves to the connections for these policies; only their ConfigMaps are watched from then on. */
  async read(policies: readonly BackendTlsPolicy[]): Promise<BackendConnections> {
    const { configMaps, systemAuthorities, clock } = this.#options;
    configMaps.watch(namedConfigMaps(policies.toSorted(byAge)));
    await answerWithin(clock, readMs, configMaps.allRead());
    const usesSystem = policies.some(({ spec }) => spec.validation.wellKnownCACertificates);
    const system = usesSystem ? await systemAuthorities() : '';
    const files = new Map<string, CertificateFile>();
    const results = new Map(policies.map((policy) => [policy, this.#connection(policy, system, files)]));
    return {
      tlsOf: (policy) => results.get(policy) ?? { message: 'the policy has not been read yet' },
      files: [...files.values()],
    };
  }

  #connection(policy: BackendTlsPolicy, system: string, files: Map<string, CertificateFile>) {
    const authorities = authoritiesOf(policy, (key) => this.#problemOf(key));
    const unserved = unservedReason(policy, authorities);
    if (unserved) return unserved;
    const { from } = authorities;
    const pem = from === 'system' ? system : from.map((key) => this.#pemOf(key)).join('');
    const file = authoritiesFile(pem);
    files.set(file.name, file);
    return { name: policy.spec.validation.hostname, authorities: file.name };
  }

  #problemOf(key: string): string | undefined {
    const bundle = this.#bundleOf(key);
    return 'problem' in bundle ? bundle.problem : undefined;
  }

  #pemOf(key: string): string {
    const bundle = this.#bundleOf(key);
    return 'pem' in bundle ? bundle.pem : '';
  }

  #bundleOf(key: string): ReturnType<typeof authorityBundle> {
    const configMap = this.#options.configMaps.get(key);
    if (!configMap) return { problem: 'does not exist' };
    const known = this.#bundles.get(configMap) ?? authorityBundle(configMap.data?.['ca.crt']);
    this.#bundles.set(configMap, known);
    return known;
  }
}

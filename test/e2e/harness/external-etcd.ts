/** An etcd as operators run it: over TLS, only for clients with a certificate. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { openCredentials } from '../../../src/pki/credentials.ts';
import { end, type Host } from './host.ts';

const address = '127.0.0.1';

export class ExternalEtcd {
  readonly endpoint = `https://${address}:2379`;
  readonly #host: Host;
  #process: ChildProcess | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  async makeCertificates(): Promise<void> {
    const credentials = await openCredentials(this.#at('pki'), Date.now);
    await credentials.leaf({
      file: 'server',
      commonName: 'etcd',
      hosts: [address],
      usages: ['server', 'client'],
    });
    await credentials.leaf({ file: 'client', commonName: 'minik8s', usages: ['client'] });
    // A certificate of an authority that this etcd does not trust.
    const other = await openCredentials(this.#at('other'), Date.now);
    await other.leaf({ file: 'client', commonName: 'minik8s', usages: ['client'] });
  }

  /** The flags with which minik8s connects to it. */
  flags(pki = this.#at('pki')): string[] {
    const files = { ca: this.#at('pki/ca.crt'), cert: join(pki, 'client.crt'), key: join(pki, 'client.key') };
    return [
      `--etcd-endpoints=${this.endpoint}`,
      ...Object.entries(files).map(([name, path]) => `--etcd-${name}=${path}`),
    ];
  }

  get otherPki(): string {
    return this.#at('other');
  }

  start(): void {
    const urls = `--listen-client-urls=${this.endpoint}`;
    this.#process = this.#host.spawn('etcd', [
      ...['--data-dir', this.#at('data'), urls, `--advertise-client-urls=${this.endpoint}`],
      ...['--listen-peer-urls=http://127.0.0.1:2380', '--log-level=warn', '--client-cert-auth'],
      ...['--trusted-ca-file', this.#at('pki/ca.crt')],
      ...['--cert-file', this.#at('pki/server.crt'), '--key-file', this.#at('pki/server.key')],
    ]);
  }

  async kill(): Promise<void> {
    await end(this.#process, 'SIGKILL');
  }

  #at(name: string): string {
    return join(this.#host.directory, 'etcd', name);
  }
}

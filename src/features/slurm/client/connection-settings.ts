/** Settings of the connection to the login host, from the Secret of a SlurmJob's connection. */
export interface ConnectionSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string | undefined;
  /** Private key in OpenSSH's format or PEM. */
  readonly privateKey?: string | undefined;
  readonly passphrase?: string | undefined;
  /** Lines of known_hosts, or lines of TYPE BASE64. */
  readonly knownHosts: string;
}

/**
 * Parses the decoded keys of the Secret. Returns a string that describes a fault, without any content of the
 * Secret.
 */
export function connectionSettings(data: Readonly<Record<string, string>>): ConnectionSettings | string {
  const text = (key: string) => (data[key]?.trim() ? data[key] : undefined);
  const { host, user, knownHosts } = {
    host: text('host')?.trim(),
    user: text('user')?.trim(),
    knownHosts: text('knownHosts'),
  };
  const port = text('port')?.trim() ?? '22';
  const [password, privateKey] = [text('password'), text('privateKey')];
  if (host === undefined) return 'the Secret has no key host';
  if (user === undefined) return 'the Secret has no key user';
  if (knownHosts === undefined)
    return 'the Secret has no key knownHosts: without the key of the host nothing is sent to it';
  if (!/^[A-Za-z0-9.:_-]{1,253}$/.test(host))
    return 'host in the Secret is neither a host name nor an IP address';
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535)
    return 'port in the Secret is not a number from 1 to 65535';
  if (password === undefined && privateKey === undefined)
    return 'the Secret has neither password nor privateKey';
  // A trailing newline usually comes from a file that ends with one.
  return {
    host,
    port: Number(port),
    user,
    password: password?.replace(/\r?\n$/, ''),
    privateKey,
    passphrase: text('passphrase')?.replace(/\r?\n$/, ''),
    knownHosts,
  };
}

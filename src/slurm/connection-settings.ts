/** How the login host is reached, as the Secret of a SlurmJob's connection says. */
export interface ConnectionSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string | undefined;
  /** OpenSSH's or PEM's text. */
  readonly privateKey?: string | undefined;
  readonly passphrase?: string | undefined;
  /** Lines of known_hosts, or lines of TYPE BASE64. */
  readonly knownHosts: string;
}

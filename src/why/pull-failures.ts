/** Answers of registries and engines to the pull of an image, in words. Pure. */

export interface PullFailure {
  /** Completes the sentence that the image cannot be pulled. */
  readonly words: string;
  /** The remedy: another name, a password, trust in the registry, a connection to it, or waiting. */
  readonly mend: 'name' | 'password' | 'trust' | 'reach' | 'wait';
}

const known: readonly (readonly [RegExp, string, PullFailure['mend']])[] = [
  [
    /toomanyrequests|rate limit|429/i,
    'the registry limits the number of pulls, and the limit is reached',
    'wait',
  ],
  [/no matching manifest|platform/i, 'the image is not built for the processor of the node', 'name'],
  [
    /pull access denied|unauthorized|authentication required|denied|401|403/i,
    'the registry does not know it, or requires a password',
    'password',
  ],
  [
    /manifest.*(?:unknown|not found)|not found: manifest|tag.*does not exist|repository.*not found/i,
    'the registry has no such tag',
    'name',
  ],
  [/x509|certificate/i, 'the certificate of the registry is not trusted by the node', 'trust'],
  [
    /HTTP response to HTTPS client/i,
    'the registry uses HTTP, and the engine of the node sends HTTPS requests',
    'trust',
  ],
  [
    /no such host|server misbehaving|name resolution/i,
    'the name of the registry does not resolve on the node',
    'reach',
  ],
  [
    /connection refused|timeout|timed out|no route to host|unreachable|EOF/i,
    'the registry does not answer',
    'reach',
  ],
  [/no space left/i, 'the disk of the node is full', 'reach'],
];

/** Returns what an answer means; undefined for an unknown one. */
export function pullFailure(message: string): PullFailure | undefined {
  const found = known.find(([pattern]) => pattern.test(message));
  return found && { words: found[1], mend: found[2] };
}

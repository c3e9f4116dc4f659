/** resolv.conf(5) as data. */
export interface ResolvConf {
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  /** Options such as `ndots:5`. */
  readonly options: readonly string[];
}

/**
 * Parses resolv.conf. The last `search` or `domain` counts; unknown lines are ignored, as the resolver does.
 */
export function parseResolvConf(text: string): ResolvConf {
  const lines = text
    .split('\n')
    .map((line) =>
      line
        .replace(/[#;].*$/, '')
        .trim()
        .split(/\s+/),
    )
    .filter(([keyword]) => keyword);
  const of = (...keywords: readonly string[]) =>
    lines.filter(([keyword = '']) => keywords.includes(keyword)).map(([, ...words]) => words);
  return {
    nameservers: of('nameserver').flatMap(([address]) => (address ? [address] : [])),
    searches:
      of('search', 'domain')
        .at(-1)
        ?.filter((domain) => domain !== '.') ?? [],
    options: of('options').flat(),
  };
}

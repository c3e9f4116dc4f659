/** The go.mod from which Kubernetes' programs are built outside its repository. Pure. */

/** The part that is used here of the output of `go mod edit -json`. */
export interface GoModule {
  readonly Go: string;
  readonly Require: readonly { readonly Path: string; readonly Version: string }[];
  readonly Replace: readonly {
    readonly Old: { readonly Path: string };
    readonly New: { readonly Path: string };
  }[];
}

/**
 * Kubernetes' own go.mod puts folders of its repository in place of its parts. They are published as
 * `0.MINOR.PATCH`. Everything else stays as it is there.
 */
export function moduleFile(version: string, { Go, Require, Replace }: GoModule): string {
  const parts = Replace.filter(({ New }) => New.Path.startsWith('./')).map(({ Old }) => Old.Path);
  const published = version.replace(/^1\./, '0.');
  const required = Require.filter(({ Path }) => !parts.includes(Path));
  const lines = [
    'module conformance',
    `go ${Go}`,
    `require k8s.io/kubernetes v${version}`,
    ...required.map(({ Path, Version }) => `require ${Path} ${Version}`),
    ...parts.map((path) => `replace ${path} => ${path} v${published}`),
  ];
  return `${lines.join('\n')}\n`;
}

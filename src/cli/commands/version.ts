/** `ctl version`: prints the versions of this client, of its kustomize and of the server. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { versionDocument } from '../../apimachinery/version-document.ts';
import { UsageError } from '../../base/usage-error.ts';
import { version as ownVersion } from '../../base/version.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { outputFlag } from '../flags/output-flags.ts';
import { kustomizeVersion } from '../kustomize/build-plan.ts';
import { textAt } from '../objects/objects.ts';
import { objectFormat } from '../printers/object-format.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  client: { type: 'boolean', about: 'print only the version of the client' },
  output: { ...outputFlag.output, hint: 'json|yaml', about: 'print as JSON or YAML', usual: 'text' },
} as const satisfies FlagTable;

export const version: Verb = {
  about: 'print the versions of the client and of the server',
  group: 'Other Commands',
  flags: flagTable,
  examples: [
    'ctl version # print both versions',
    'ctl version --client -o json # print that of the client, as JSON',
  ],
  async run({ flags, io, cluster }) {
    const format = formatOf(flags);
    const clientVersion = versionDocument(ownVersion());
    const [serverVersion, problem] = flags.on('client') ? [] : await versionOfServer(cluster);
    io.out(format({ clientVersion, kustomizeVersion, ...(serverVersion && { serverVersion }) }));
    if (problem !== undefined) throw problem;
  },
};

type Versions = Readonly<Record<string, unknown>> & {
  readonly clientVersion: Readonly<Record<string, string>>;
  readonly serverVersion?: JsonObject;
};

/** Prints as kubectl does: JSON with two blanks for a level, YAML with an empty line at its end. */
const formats: Readonly<Record<string, (versions: Versions) => string>> = {
  '': ({ clientVersion, serverVersion }) =>
    [
      `Client Version: ${clientVersion.gitVersion}\n`,
      `Kustomize Version: ${kustomizeVersion}\n`,
      ...(serverVersion ? [`Server Version: ${textAt(serverVersion, 'gitVersion')}\n`] : []),
    ].join(''),
  json: (versions) => `${JSON.stringify(versions, undefined, 2)}\n`,
  yaml: (versions) => `${objectFormat('yaml')?.(versions)}\n`,
};

/** Resolves to the server's version, or to the error: a client without a server still has a version. */
async function versionOfServer(cluster: () => Cluster): Promise<[JsonObject?, unknown?]> {
  try {
    return [await cluster().get('/version')];
  } catch (error) {
    return [undefined, error];
  }
}

function formatOf(flags: Flags): (versions: Versions) => string {
  const name = flags.text('output') ?? '';
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (!format) throw new UsageError("--output must be 'yaml' or 'json'");
  return format;
}

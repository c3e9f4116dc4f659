/** `ctl version`: prints the versions of this client and of the server. */
import { version as ownVersion } from '../../base/version.ts';
import { type FlagTable, outputFlag } from '../flags/flags.ts';
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
    const format = objectFormat(flags.oneOf('output', ['json', 'yaml'] as const));
    const clientVersion = { gitVersion: `v${ownVersion()}` };
    if (!format) io.out(`Client Version: ${clientVersion.gitVersion}\n`);
    const serverVersion = flags.on('client') ? undefined : await cluster().get('/version');
    if (format) io.out(format({ clientVersion, ...(serverVersion && { serverVersion }) }));
    else if (serverVersion) io.out(`Server Version: ${textAt(serverVersion, 'gitVersion')}\n`);
  },
};

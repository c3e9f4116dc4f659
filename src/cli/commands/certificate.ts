/** `ctl certificate`: approves or denies certificate signing requests. */
import { UsageError } from '../../base/usage-error.ts';
import { type FlagTable, fileFlags, namesManifests } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import { forEachReported } from '../for-each-reported.ts';
import { kindName } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { resolveObjects } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb, VerbGroup } from '../verb.ts';
import { type CertificateDecision, decide } from './certificate-decision.ts';

const flagTable = {
  force: { type: 'boolean', about: 'update the condition of a request that is already approved or denied' },
  ...fileFlags,
  ...printFlags,
} as const satisfies FlagTable;

function decisionVerb(decision: CertificateDecision, about: string): Verb {
  return {
    about,
    words: ['CSR...', '-f FILE'],
    flags: flagTable,
    examples: [`ctl certificate ${decision} csr-1 # ${decision} one request`],
    async run(context) {
      const { flags, io } = context;
      if (flags.words.length === 0 && !namesManifests(flags))
        throw new UsageError('one or more CSRs must be specified as <name> or -f <filename>');
      const format = printedFormat(flags);
      const named = flags.words.map((word) =>
        word.includes('/') ? word : `certificatesigningrequests/${word}`,
      );
      await forEachReported(context, await resolveObjects(context, named), async (target) => {
        const done = await decide(context.cluster(), io, target, decision, flags.on('force'));
        const line = `${kindName(target.resource)}/${target.name} ${done}\n`;
        io.out(format ? format(await context.cluster().get(targetPath(target))) : line);
      });
    },
  };
}

export const certificate: VerbGroup = {
  about: 'approve or deny certificate signing requests',
  group: 'Cluster Management Commands',
  examples: [
    'ctl get csr # list the requests',
    'ctl certificate approve csr-1 # sign the certificate of a request',
  ],
  verbs: {
    approve: decisionVerb('approve', 'approve requests, so that their certificates are signed'),
    deny: decisionVerb('deny', 'deny requests, so that no certificate is signed'),
  },
};

/** `npm run bench:extensions [NAME…]`: definitions, custom resources and webhooks beside kube-apiserver. */
import { parseArgs } from 'node:util';
import { kubeApiserverProgram } from '../api/kube-apiserver.ts';
import { withOurServer, withServers } from '../api/servers.ts';
import { runBenchmarks } from '../run-benchmarks.ts';
import { many } from './many.ts';
import type { ExtensionOptions } from './options.ts';
import { requestsOf } from './requests.ts';
import { start } from './start.ts';
import { webhook } from './webhook.ts';

const help = `usage: npm run bench:extensions -- [--quick] [--rounds=N] [--alone] [NAME…]
  --quick     few definitions, one short round: only shows that the benchmark works
  --rounds=N  measurements of each line on each server (default 3)
  --alone     leave out kube-apiserver, which takes minutes to build the first time
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h' },
    quick: { type: 'boolean' },
    alone: { type: 'boolean' },
    rounds: { type: 'string' },
  },
});
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
if (!(Number.isInteger(rounds) && rounds > 0)) {
  process.stderr.write(`error: --rounds=${values.rounds} is not a number of rounds\n`);
  process.exit(2);
}
const say = (line: string) => process.stderr.write(`  ${line}\n`);
const options: ExtensionOptions = {
  rounds,
  ms: values.quick ? 400 : 1500,
  definitions: values.quick ? 20 : 500,
  withServers: async (measure) =>
    values.alone
      ? withOurServer((server) => measure([server]))
      : withServers(await kubeApiserverProgram(say), measure),
};
await runBenchmarks([many(options), start(options), requestsOf(options), webhook(options)], positionals);

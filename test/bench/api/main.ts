/** `npm run bench:api [NAME…]`: the API server beside Kubernetes' own, its own cost, and HTTP/2. */
import { parseArgs } from 'node:util';
import { runBenchmarks } from '../run-benchmarks.ts';
import { compare } from './compare.ts';
import { deployment } from './deployment.ts';
import { quick, usual } from './lines.ts';
import { masterAlone } from './master-alone.ts';
import { protocolsOf } from './protocols.ts';
import { up } from './up.ts';

const help = `usage: npm run bench:api -- [--quick] [--rounds=N] [--only=REGEX] [NAME…]
  --quick       few objects, one short round: only shows that the benchmark works
  --rounds=N    measurements of each line on each server (default 3)
  --only=REGEX  only the lines of \`compare\` that match
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h' },
    quick: { type: 'boolean' },
    rounds: { type: 'string' },
    only: { type: 'string' },
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
const options = {
  amounts: values.quick ? quick : usual,
  rounds,
  ...(values.only !== undefined && { only: new RegExp(values.only) }),
};
const isQuick = values.quick === true;
const protocols = protocolsOf({ rounds, ms: options.amounts.ms });
await runBenchmarks(
  [compare(options), deployment(rounds), protocols, masterAlone(isQuick), up(isQuick)],
  positionals,
);

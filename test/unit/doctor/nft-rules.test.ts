import assert from 'node:assert/strict';
import { test } from 'node:test';
import { droppingRules } from '../../../src/doctor/nft-rules.ts';

const ruleset = `table ip minik8s-vxlan { # handle 1
	chain input { # handle 1
		type filter hook input priority filter; policy accept;
		ip saddr 192.0.2.9 drop # handle 2
	}
}
table inet cut { # handle 2
	set peers { # handle 9
		type ipv4_addr
	}

	chain in { # handle 1
		type filter hook input priority filter; policy accept;
		ip saddr 192.0.2.1 tcp flags & (syn | ack) == syn drop # handle 2
		ip saddr { 192.0.2.3, 192.0.2.4 } counter packets 0 bytes 0 reject with icmp port-unreachable # handle 3
		tcp dport 22 drop # handle 4
		ip saddr 192.0.2.5 accept # handle 5
	}

	chain out { # handle 6
		type filter hook output priority filter; policy accept;
		ip daddr 192.0.2.1 drop # handle 7
	}

	chain unused { # handle 8
		ip saddr 192.0.2.6 drop # handle 9
	}
}
`;

test('rules that drop packets of certain addresses are found in the chains for incoming and outgoing packets', () => {
  assert.deepEqual(droppingRules(ruleset), [
    {
      table: 'inet cut',
      chain: 'in',
      handle: 2,
      rule: 'ip saddr 192.0.2.1 tcp flags & (syn | ack) == syn drop',
    },
    {
      ...{ table: 'inet cut', chain: 'in', handle: 3 },
      rule: 'ip saddr { 192.0.2.3, 192.0.2.4 } counter packets 0 bytes 0 reject with icmp port-unreachable',
    },
    { table: 'inet cut', chain: 'out', handle: 7, rule: 'ip daddr 192.0.2.1 drop' },
  ]);
  assert.deepEqual(droppingRules(''), []);
});

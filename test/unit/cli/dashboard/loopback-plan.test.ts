/** The loopback proxy of `ctl dashboard`: which requests pass, and with which headers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusalOf, toBrowser, toServer } from '../../../../src/cli/dashboard/loopback-plan.ts';
import { browserProgram } from '../../../../src/cli/dashboard/open-browser.ts';

const place = { host: '127.0.0.1:8443', server: 'master:6443' };
const raw = (headers: Readonly<Record<string, string>>) => Object.entries(headers).flat();

describe('the loopback proxy', () => {
  it('refuses other names than its own, several of them, and other origins', () => {
    const refused = (...headers: string[]) => refusalOf(headers, place) !== undefined;
    assert.equal(refused('Host', '127.0.0.1:8443'), false);
    assert.equal(refused('Host', '127.0.0.1:8443', 'Origin', 'http://127.0.0.1:8443'), false);
    assert.ok(refused());
    assert.ok(refused('Host', 'localhost:8443'));
    assert.ok(refused('Host', '127.0.0.1:8443', 'host', 'evil.example'));
    for (const origin of [
      'null',
      'http://127.0.0.1:1',
      'https://127.0.0.1:8443',
      'http://127.0.0.1:8443/',
      '',
    ])
      assert.ok(refused('Host', '127.0.0.1:8443', 'Origin', origin), origin);
  });

  it('shows the server its own origin, and the cookie of its port alone', () => {
    const cookie = 'minik8s-session-8444=other; minik8s-session-8443=sealed; __Host-minik8s-session=x; a=b';
    assert.deepEqual(
      toServer(raw({ Origin: 'http://127.0.0.1:8443', Cookie: cookie, Accept: '*/*' }), place),
      [...['Origin', 'https://master:6443', 'Cookie', '__Host-minik8s-session=sealed', 'Accept', '*/*']],
    );
    assert.deepEqual(toServer(raw({ Cookie: 'a=b' }), place), []);
  });

  it('gives the browser a cookie with the port in its name, which scripts cannot read', () => {
    const sent = '__Host-minik8s-session=sealed; Path=/; Max-Age=9; Secure; HttpOnly; SameSite=Strict';
    assert.deepEqual(toBrowser(raw({ 'Set-Cookie': sent, Vary: 'x' }), place), [
      ...[
        'Set-Cookie',
        'minik8s-session-8443=sealed; Path=/; Max-Age=9; HttpOnly; SameSite=Strict',
        'Vary',
        'x',
      ],
    ]);
    assert.deepEqual(toBrowser(['set-cookie', 'other=1; Secure'], place), ['set-cookie', 'other=1; Secure']);
  });
});

describe('the browser', () => {
  it('is the chosen one, or that of a desktop', () => {
    assert.equal(browserProgram({ BROWSER: 'firefox:chromium', DISPLAY: ':0' }, 'linux'), 'firefox');
    assert.equal(browserProgram({ DISPLAY: ':0' }, 'linux'), 'xdg-open');
    assert.equal(browserProgram({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux'), 'xdg-open');
    assert.equal(browserProgram({}, 'darwin'), 'open');
    assert.equal(browserProgram({}, 'linux'), undefined);
  });
});

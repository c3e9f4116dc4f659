import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import {
  type ConnectionLimits,
  Connections,
  connectionLimits,
  defaultConnections,
  type RawConnection,
} from '../../../../src/apiserver/load/connections.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

class Socket extends EventEmitter implements RawConnection {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort = 6443;
  destroyed = false;

  constructor(remoteAddress: string, remotePort: number, localAddress = '192.0.2.99') {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
    this.localAddress = localAddress;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    // Asynchronously, as a socket does.
    queueMicrotask(() => this.emit('close'));
  }
}

const limits: ConnectionLimits = { all: 6, user: 3, strangers: 4, anonymousOfAddress: 2 };

function listening() {
  const clock = new FakeClock();
  const connections = new Connections(limits, { clock, log: silentLogger });
  let port = 1000;
  const accept = (address = '192.0.2.1', user?: string) => {
    const socket = new Socket(address, port++);
    connections.accept(socket);
    if (user !== undefined) assert.ok(connections.belongsTo(socket, user));
    return socket;
  };
  const destroyed = (sockets: readonly Socket[]) => sockets.map((socket) => socket.destroyed);
  return { clock, connections, accept, destroyed };
}

describe('connections', () => {
  it('of anonymous clients are closed for newer ones, the oldest first', () => {
    const { accept, destroyed } = listening();
    const sockets = Array.from({ length: 6 }, () => accept());
    assert.deepEqual(destroyed(sockets), [true, true, false, false, false, false]);
  });

  it('of users are kept when anonymous clients connect', () => {
    const { accept, destroyed } = listening();
    const known = [accept('192.0.2.1', 'a'), accept('192.0.2.1', 'b')];
    for (let i = 0; i < 20; i++) accept();
    assert.deepEqual(destroyed(known), [false, false]);
  });

  it('of unauthenticated clients are closed at the limit; without any, new connections are refused', () => {
    const { accept, destroyed } = listening();
    const stranger = accept();
    const known = ['a', 'a', 'b', 'b', 'c'].map((user) => accept('192.0.2.1', user));
    const next = accept('192.0.2.1', 'c');
    assert.equal(stranger.destroyed, true);
    assert.equal(next.destroyed, false);
    const refused = accept();
    assert.equal(refused.destroyed, true);
    assert.ok(!destroyed(known).includes(true));
  });

  it('of one user are limited, and free their place when they end', async () => {
    const { connections, accept } = listening();
    const own = Array.from({ length: 3 }, () => accept('192.0.2.1', 'a'));
    const further = accept();
    assert.equal(connections.belongsTo(further, 'a'), false);
    assert.equal(connections.isStranger(further), true);
    own[0]?.destroy();
    await Promise.resolve();
    assert.equal(connections.belongsTo(further, 'a'), true);
    // The same connection, for its whole life.
    assert.equal(connections.belongsTo(further, 'a'), true);
    assert.equal(connections.isStranger(further), false);
  });

  it('without a certificate are limited for each address', () => {
    const { connections, accept, destroyed } = listening();
    const here = Array.from({ length: 3 }, () => accept('192.0.2.1'));
    const there = accept('192.0.2.2');
    for (const socket of [...here, there]) connections.isAnonymous(socket);
    assert.deepEqual(destroyed([...here, there]), [true, false, false, false]);
  });

  it('of a user are no longer counted as connections without a certificate', () => {
    const { connections, accept, destroyed } = listening();
    const own = accept();
    connections.isAnonymous(own);
    assert.ok(connections.belongsTo(own, 'a'));
    const strangers = Array.from({ length: 3 }, () => accept());
    for (const socket of strangers) connections.isAnonymous(socket);
    assert.deepEqual(destroyed([own, ...strangers]), [false, true, false, false]);
  });

  it('of a user are not counted as anonymous if TLS is established late', () => {
    const { connections, accept, destroyed } = listening();
    const strangers = [accept(), accept()];
    for (const socket of strangers) connections.isAnonymous(socket);
    const own = accept('192.0.2.1', 'a');
    connections.isAnonymous(own);
    assert.deepEqual(destroyed([own, ...strangers]), [false, false, false]);
  });

  it('of one user are removed from the count one by one as they end', async () => {
    const { connections, accept } = listening();
    const own = Array.from({ length: 3 }, () => accept('192.0.2.1', 'a'));
    own[0]?.destroy();
    await Promise.resolve();
    assert.equal(connections.belongsTo(accept(), 'a'), true);
    assert.equal(connections.belongsTo(accept(), 'a'), false);
  });

  it('are counted for their first user, even if a later request is from another user', () => {
    const { connections, accept } = listening();
    const own = accept('192.0.2.1', 'a');
    for (let i = 0; i < 5; i++) assert.equal(connections.belongsTo(own, 'b'), true);
    for (let i = 0; i < 3; i++) assert.equal(connections.belongsTo(accept(), 'b'), true);
  });

  it('from a reused port differ from the previous one, which ends late', async () => {
    const { connections } = listening();
    const strangers = Array.from({ length: 5 }, (_, i) => new Socket('192.0.2.1', 2000 + i));
    for (const socket of strangers) connections.accept(socket);
    assert.equal(strangers[0]?.destroyed, true);
    const next = new Socket('192.0.2.1', 2000);
    connections.accept(next);
    assert.ok(connections.belongsTo(next, 'a'));
    // The server sees the end of the first connection only now.
    await Promise.resolve();
    assert.equal(connections.isStranger(next), false);
    assert.equal(next.destroyed, false);
  });

  it('from one port to two addresses are counted as two and removed at their ends', async () => {
    const { connections, accept, destroyed } = listening();
    for (let pair = 0; pair < 20; pair++) {
      const both = ['192.0.2.98', '192.0.2.99'].map((local) => new Socket('192.0.2.1', 2000, local));
      for (const socket of both) connections.accept(socket);
      assert.ok(both.every((socket) => connections.belongsTo(socket, 'a')));
      for (const socket of both) socket.destroy();
      await Promise.resolve();
    }
    const own = Array.from({ length: 3 }, () => accept());
    assert.deepEqual(
      own.map((socket) => connections.belongsTo(socket, 'a')),
      [true, true, true],
    );
    const strangers = Array.from({ length: 4 }, () => accept());
    assert.deepEqual(destroyed([...own, ...strangers]), [false, false, false, true, false, false, false]);
  });

  it('with the same addresses as one that ends late are all removed from the count', async () => {
    const { connections, accept, destroyed } = listening();
    for (let i = 0; i < 20; i++) {
      const first = new Socket('192.0.2.1', 2000);
      const second = new Socket('192.0.2.1', 2000);
      for (const socket of [first, second]) connections.accept(socket);
      first.destroy();
      second.destroy();
      await Promise.resolve();
    }
    const six = Array.from({ length: 6 }, () => accept());
    assert.deepEqual(destroyed(six), [true, true, false, false, false, false]);
  });

  it('belong to no user and are not counted after they were closed', async () => {
    const { connections, accept } = listening();
    const gone = accept();
    connections.isAnonymous(gone);
    gone.destroy();
    await Promise.resolve();
    assert.equal(connections.isStranger(gone), true);
    for (let i = 0; i < 9; i++) assert.equal(connections.belongsTo(gone, 'a'), true);
    assert.equal(connections.belongsTo(accept(), 'a'), true);
  });

  it('with a certificate wait longer for their first request than Go’s client keeps them', async () => {
    const { clock, connections, accept, destroyed } = listening();
    const [certified, anonymous, late] = [accept(), accept(), accept()];
    for (const socket of [certified, late]) connections.isCertified(socket);
    connections.isAnonymous(anonymous);
    await clock.advance(100_000);
    assert.deepEqual(destroyed([certified, anonymous, late]), [false, true, false]);
    assert.ok(connections.belongsTo(late, 'a'));
    await clock.advance(80_000);
    assert.deepEqual(destroyed([certified, late]), [true, false]);
  });

  it('of anonymous clients time out, and connections of users do not', async () => {
    const { clock, accept, destroyed } = listening();
    const sockets = [accept(), accept('192.0.2.1', 'a')];
    await clock.advance(29_999);
    assert.deepEqual(destroyed(sockets), [false, false]);
    await clock.advance(1);
    assert.deepEqual(destroyed(sockets), [true, false]);
    assert.equal(clock.pending, 0);
  });

  it('without a record are counted neither as anonymous nor for a user', () => {
    const { connections } = listening();
    const unknown = new Socket('192.0.2.9', 1);
    connections.isAnonymous(unknown);
    assert.equal(connections.belongsTo(unknown, 'a'), true);
    assert.equal(connections.isStranger(unknown), true);
  });

  it('from the same port again are distinguished, whichever closes first', async () => {
    const { connections, clock, destroyed } = listening();
    const open = () => {
      const socket = new Socket('192.0.2.1', 7);
      connections.accept(socket);
      return socket;
    };
    // The client has reset the first connection, and connects again before the server has seen the reset.
    for (let round = 0; round < 9; round++) {
      const [first, second] = [open(), open()];
      assert.ok(connections.belongsTo(second, 'a'));
      first.destroy();
      await clock.settle();
      assert.equal(connections.isStranger(second), false);
      second.destroy();
      await clock.settle();
    }
    assert.equal(clock.pending, 0);
    const users = [open(), open(), open()];
    for (const socket of users) assert.ok(connections.belongsTo(socket, 'a'));
    assert.deepEqual(destroyed(users), [false, false, false]);
  });

  it('are removed from the count if they end before they are accepted', async () => {
    const { connections, clock, accept, destroyed } = listening();
    for (let i = 0; i < 9; i++) {
      const gone = new Socket(undefined as never, undefined as never, undefined as never);
      connections.accept(gone);
      connections.isAnonymous(gone);
      gone.destroy();
      await clock.settle();
    }
    assert.equal(clock.pending, 0);
    const strangers = [accept(), accept(), accept(), accept()];
    assert.deepEqual(destroyed(strangers), [false, false, false, false]);
  });

  it('of users can use all places up to the maximum', () => {
    const { clock, accept } = listening();
    for (const user of ['a', 'a', 'b', 'b', 'c', 'c']) accept('192.0.2.1', user);
    const further = accept();
    assert.equal(further.destroyed, true);
    assert.equal(clock.pending, 0, 'nothing is kept of it');
  });

  it('without a certificate are counted one by one as they end', async () => {
    const { connections, accept, destroyed } = listening();
    const anonymous = () => {
      const socket = accept('192.0.2.1');
      connections.isAnonymous(socket);
      return socket;
    };
    const [first, second] = [anonymous(), anonymous()];
    first.destroy();
    await Promise.resolve();
    const [third, fourth] = [anonymous(), anonymous()];
    assert.deepEqual(destroyed([second, third, fourth]), [true, false, false]);
  });

  it('are limited to 6,000, and to a quarter of that for one user and for unauthenticated clients', () => {
    assert.equal(defaultConnections, 6000);
    assert.deepEqual(connectionLimits(1000), {
      all: 1000,
      user: 250,
      strangers: 250,
      anonymousOfAddress: 63,
    });
  });

  it('leave no timer and no count behind', async () => {
    const { connections, clock, accept } = listening();
    for (let round = 0; round < 100; round++) {
      const sockets = [accept(), accept('192.0.2.1', 'a'), accept('192.0.2.2')];
      for (const socket of sockets) connections.isAnonymous(socket);
      for (const socket of sockets) socket.destroy();
      await clock.settle();
      assert.equal(clock.pending, 0);
      assert.ok(sockets.every((socket) => connections.isStranger(socket)));
    }
    const full = ['a', 'a', 'a', 'b', 'b', 'b'].map((user) => accept('192.0.2.1', user));
    assert.ok(full.every((socket) => !socket.destroyed));
  });
});

#!/bin/sh
# The cluster of the lesson "Sharding" without its containers: a config server, two shards and a router, each a program
# of lib/bin, put together by mongosh as one does it by hand.
#
#     shard-lab.sh DIRECTORY CONFIG_PORT SHARD_A_PORT SHARD_B_PORT ROUTER_PORT
#
# BIN is the folder with mongod and mongos, MONGOSH the shell. Prints "ready"; ends with all of it on SIGTERM.
set -eu
directory=$1 config=$2 a=$3 b=$4 router=$5

servers=
trap 'trap - TERM INT EXIT; kill $servers 2>/dev/null; wait; exit 0' TERM INT EXIT

mkdir -p "$directory/cfg" "$directory/shardA" "$directory/shardB"
"$BIN/mongod" --configsvr --replSet cfg --port "$config" --bind_ip 127.0.0.1 \
  --dbpath "$directory/cfg" --logpath "$directory/cfg.log" &
servers="$servers $!"
"$BIN/mongod" --shardsvr --replSet shardA --port "$a" --bind_ip 127.0.0.1 \
  --dbpath "$directory/shardA" --logpath "$directory/shardA.log" &
servers="$servers $!"
"$BIN/mongod" --shardsvr --replSet shardB --port "$b" --bind_ip 127.0.0.1 \
  --dbpath "$directory/shardB" --logpath "$directory/shardB.log" &
servers="$servers $!"
# Started first, as containers are: it waits for the config servers.
"$BIN/mongos" --configdb "cfg/127.0.0.1:$config" --port "$router" --bind_ip 127.0.0.1 \
  --logpath "$directory/mongos.log" &
servers="$servers $!"

shell() {
  port=$1
  shift
  until $MONGOSH --norc --quiet --port "$port" --eval 'db.adminCommand({ ping: 1 }).ok' >/dev/null 2>&1; do
    sleep 0.2
  done
  $MONGOSH --norc --quiet --port "$port" --eval "$@"
}

shell "$config" "rs.initiate({ _id: 'cfg', configsvr: true, members: [{ _id: 0, host: '127.0.0.1:$config' }] }).ok"
shell "$a" "rs.initiate({ _id: 'shardA', members: [{ _id: 0, host: '127.0.0.1:$a' }] }).ok"
shell "$b" "rs.initiate({ _id: 'shardB', members: [{ _id: 0, host: '127.0.0.1:$b' }] }).ok"
shell "$router" "sh.addShard('shardA/127.0.0.1:$a').shardAdded"
shell "$router" "sh.addShard('shardB/127.0.0.1:$b').shardAdded"
echo ready
wait

#!/bin/sh
# The first process of an emulated container: gives it its own /opt/ml and runs the program as a child, as a first process would
# ignore signals that it does not handle. Started by namespaces.py inside new namespaces: container.sh ML_FOLDER STAGE_FOLDER CACHE RUN_IN CLOSED COMMAND...
# Exit code 120 says that /opt/ml could not be had.
ml=$1 stage=$2 cache=$3 folder=$4 closed=$5
shift 5
if ! [ -d /opt/ml ]; then
    # The machine's /opt is left alone: over it, in here only, comes the folder that is missing.
    mkdir -p "$stage/ml" || exit 120
    case $ml in
    /opt/*) false ;; # such an overlay is read-only
    *) mount -t overlay overlay -o "lowerdir=$stage:/opt" /opt 2>/dev/null ;;
    esac || {
        mount -t tmpfs -o mode=755 tmpfs "$stage" && mkdir "$stage/ml" || exit 120
        for entry in /opt/* /opt/.[!.]*; do
            if [ -d "$entry" ] && ! [ -L "$entry" ]; then
                mkdir "$stage/${entry##*/}" && mount --rbind "$entry" "$stage/${entry##*/}" || exit 120
            elif [ -e "$entry" ]; then
                cp -P "$entry" "$stage/${entry##*/}" || exit 120
            fi
        done
        mount --move "$stage" /opt || exit 120
    }
fi
mount --rbind "$ml" /opt/ml || exit 120
if [ -e "$ml/../hosts" ]; then
    mount --bind "$ml/../hosts" /etc/hosts || exit 120
fi
for mark in "$ml/../lazy/"*; do
    # A lazy channel's files are the bucket's own, hence read-only.
    [ -e "$mark" ] || continue
    channel=/opt/ml/input/data/${mark##*/}
    mount --bind "$channel" "$channel" && mount -o remount,bind,ro "$channel" || exit 120
done
if [ -n "$cache" ]; then
    mkdir -p /opt/ml/sagemaker/warmpoolcache
    mount --bind "$cache" /opt/ml/sagemaker/warmpoolcache || exit 120
fi
if [ -n "$closed" ]; then
    # The interpreter's installation is shared by all jobs, and is not theirs. Where the system refuses, their own views have to do.
    mount --bind "$closed" "$closed" && mount -o remount,bind,ro "$closed"
fi 2>/dev/null
cd "$folder" || exit 120
# A shell's background programs would ignore these two.
env --default-signal=INT,QUIT -- "$@" &
child=$! told=
# Else this shell would tell of signals in the midst of the output.
exec >/dev/null 2>&1
tell() {
    [ -n "$told" ] || { told=1; kill -TERM $child 2>/dev/null; }
}
# Only now, as a child forked with a trap set may lose a signal until the trap is cleared in it. One that came to this shell before is
# not lost either: whoever sends one leaves a file first.
trap tell TERM
[ -e "$ml/../stopped" ] && tell
while :; do
    wait $child
    code=$?
    # `wait` also returns when the trap ran; then the child may live.
    kill -0 $child 2>/dev/null || exit $code
done

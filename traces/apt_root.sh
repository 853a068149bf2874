# A package database of its own, for the scripts beside it: packages of any architecture without root rights,
# without a foreign architecture on this system, without a change to its packages. Wants $work, a folder.

# The mirror that this system's own apt uses.
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)}

# apt_root NAME ARCHITECTURE SUITE...: a package database of its own in FOLDER/NAME, used from then on.
apt_root() {
    apt=$work/$1
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/root"
    : >"$apt/status"
    cat >"$apt/apt.conf" <<CONF
APT::Architecture "$2";
APT::Architectures { "$2"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::main "-";
CONF
    shift 2
    key=${KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
    for name in "$@"; do echo "deb [signed-by=$key] $mirror $name main"; done >"$apt/sources.list"
    export APT_CONFIG="$apt/apt.conf"
    apt-get update -q
}
